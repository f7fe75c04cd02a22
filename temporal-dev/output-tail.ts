/** How much of a process's output an error message quotes. */
const MAX_LINES = 12;
const MAX_CHARS = 2_000;

/** The last lines that a process wrote: what explains its end. */
export class OutputTail {
  private text = '';

  append(chunk: Buffer | string): void {
    this.text = (this.text + chunk.toString()).slice(-MAX_CHARS);
  }

  toString(): string {
    return this.text.trim().split(/\r?\n/).slice(-MAX_LINES).join('\n');
  }
}
