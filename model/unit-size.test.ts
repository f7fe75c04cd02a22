import fc from 'fast-check';
import { UNIT_TARGET_MS, initialPace, learn, slotsPerUnit, unitSize, type Pace, type Tuning } from './unit-size';

const tunings = fc.record({
  window: fc.integer({ min: 1, max: 1_000 }),
  unitMax: fc.integer({ min: 1, max: 1_000 }),
  batch: fc.option(fc.integer({ min: 1, max: 1_000 })),
});
const tuning: Tuning = { window: 50, unitMax: 1_000, batch: null };

/** The pace after units of full size in which each item held its slot for `slotMs`. */
function settled(slotMs: number, of: Tuning = tuning, units = 20): Pace {
  let pace = initialPace(of);
  const slots = slotsPerUnit(of);
  for (let i = 0; i < units; i++) {
    const ran = unitSize(pace, of, 1_000_000);
    pace = learn(pace, of, { ran, slots, wallMs: (ran / Math.min(slots, ran)) * slotMs });
  }
  return pace;
}

describe('the slots of a unit', () => {
  it('share the window among at most ten units', () => {
    const slots = [1, 9, 10, 50, 55, 1_000].map((window) => slotsPerUnit({ ...tuning, window }));
    expect(slots).toEqual([1, 1, 1, 5, 6, 100]);
  });

  it('hold a whole batch, as far as the window does', () => {
    expect([10, 50, 200].map((batch) => slotsPerUnit({ ...tuning, batch }))).toEqual([10, 50, 50]);
  });

  it('never exceed the window, and are never none', () => {
    fc.assert(
      fc.property(tunings, (of) => {
        expect(slotsPerUnit(of)).toBeGreaterThanOrEqual(1);
        expect(slotsPerUnit(of)).toBeLessThanOrEqual(of.window);
      }),
    );
  });
});

describe('the size of a unit', () => {
  it('is at least one, and at most what is left and what the payload allows', () => {
    const paces = fc.record({
      slotMs: fc.option(fc.double({ min: 0, max: 1e9, noNaN: true })),
      cap: fc.integer({ min: 1, max: 1_000 }),
    });
    fc.assert(
      fc.property(paces, tunings, fc.integer({ min: 1, max: 300_000 }), (pace, of, remaining) => {
        const size = unitSize(pace, of, remaining);
        expect(Number.isInteger(size)).toBe(true);
        expect(size).toBeGreaterThanOrEqual(1);
        expect(size).toBeLessThanOrEqual(Math.min(remaining, of.unitMax));
      }),
    );
  });

  it('starts small', () => {
    expect(unitSize(initialPace(tuning), tuning, 300_000)).toBe(20);
  });

  it('becomes a thousand for quick items within a few units, and the slots for slow ones', () => {
    expect(unitSize(settled(0.01, tuning, 4), tuning, 300_000)).toBe(1_000);
    expect(unitSize(settled(60_000), tuning, 300_000)).toBe(5);
  });

  it('tends to five seconds of work', () => {
    for (const slotMs of [50, 100, 500, 1_000]) {
      const size = unitSize(settled(slotMs), tuning, 300_000);
      expect((size / slotsPerUnit(tuning)) * slotMs).toBeCloseTo(UNIT_TARGET_MS, -2);
    }
  });

  it('shrinks when items turn slow, in a few units', () => {
    let pace = settled(10);
    for (let i = 0; i < 5; i++) pace = learn(pace, tuning, { ran: 5, slots: 5, wallMs: 5_000 });
    expect(unitSize(pace, tuning, 300_000)).toBeLessThan(10);
  });

  it('shares what is left among the lanes', () => {
    expect(unitSize(settled(0.01), tuning, 1_000)).toBe(100);
    expect(unitSize(settled(0.01), tuning, 7)).toBe(5);
    expect(unitSize(settled(0.01), tuning, 3)).toBe(3);
  });
});

describe('a unit that ran nothing', () => {
  it('teaches nothing', () => {
    const pace = settled(100);
    expect(learn(pace, tuning, { ran: 0, slots: 5, wallMs: 60_000 })).toBe(pace);
  });
});
