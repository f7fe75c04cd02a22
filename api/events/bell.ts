/** Wakes the one that waits; a ring that nobody waited for is kept until somebody does. */
export class Bell {
  private rung = false;
  private wake: (() => void) | undefined;

  ring(): void {
    this.rung = true;
    this.wake?.();
  }

  /** @returns true when it has rung since the last wait, false when `ms` have gone by without. */
  async wait(ms: number): Promise<boolean> {
    if (!this.rung) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms).unref();
        this.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    const rung = this.rung;
    this.rung = false;
    this.wake = undefined;
    return rung;
  }
}
