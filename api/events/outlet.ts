import type { ServerResponse } from 'node:http';

/** A reader that takes nothing for this long is cut off, ms. It comes back to where it was. */
export const STALL_MS = 60_000;

/** One reader's end of a stream: holds no more than what was last sent. */
export class Outlet {
  private ended = false;
  private wake: (() => void) | undefined;

  /** @param onEnd told once, when the reader is gone or the stream is ended. */
  constructor(
    private readonly response: ServerResponse,
    private readonly onEnd: () => void,
    private readonly stallMs = STALL_MS,
  ) {
    response.on('drain', () => this.wake?.());
    response.on('close', () => this.finish());
    // What a broken connection says is nothing new.
    response.on('error', () => this.finish());
    if (response.destroyed) this.finish();
  }

  /** Whether nothing can be sent any more. */
  get closed(): boolean {
    return this.ended;
  }

  /** Sends, and waits until the reader has taken it as far as to want more; or until it is closed. */
  async send(text: string): Promise<void> {
    if (this.ended || text === '' || this.response.write(text)) return;
    await new Promise<void>((resolve) => {
      const stalled = setTimeout(() => this.cut(), this.stallMs).unref();
      this.wake = () => {
        clearTimeout(stalled);
        resolve();
      };
    });
    this.wake = undefined;
  }

  /** Ends the stream, once the reader has what was sent. */
  end(): void {
    this.response.end();
    this.finish();
  }

  /** Ends the stream at once: a reader that is slow is not waited for. */
  stop(): void {
    if (this.response.writableNeedDrain) this.cut();
    else this.end();
  }

  private cut(): void {
    this.response.destroy();
    this.finish();
  }

  private finish(): void {
    if (this.ended) return;
    this.ended = true;
    this.wake?.();
    this.onEnd();
  }
}
