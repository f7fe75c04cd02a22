const OUT_OF_MEMORY = /(JavaScript heap|process) out of memory/;
/** Longer than what is looked for: it may come in two pieces. */
const OVERLAP = 64;

/** Looks through what a process writes on stderr for V8's last words when its memory is used up. */
export class MemoryWords {
  private rest = '';
  private found = false;

  /** Whether they were there. */
  get seen(): boolean {
    return this.found;
  }

  look(chunk: Buffer): void {
    if (this.found) return;
    const text = this.rest + chunk.toString('latin1');
    this.found = OUT_OF_MEMORY.test(text);
    this.rest = text.slice(-OVERLAP);
  }
}
