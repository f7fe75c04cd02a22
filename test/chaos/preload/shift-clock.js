/**
 * Loaded before a process of the product (`node --require`): its system clock is TEST_CLOCK_SHIFT_MS ahead of the
 * machine's, or behind it when that is negative. What measures time, such as timers and `performance.now`, is right.
 */
const shiftMs = Number(process.env.TEST_CLOCK_SHIFT_MS);
const RealDate = Date;

class ShiftedDate extends RealDate {
  constructor(...parts) {
    if (parts.length === 0) super(RealDate.now() + shiftMs);
    else super(...parts);
  }

  static now() {
    return RealDate.now() + shiftMs;
  }
}

globalThis.Date = ShiftedDate;
