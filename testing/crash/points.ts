/** A place in a run at which a process may die. */
export interface CrashPoint {
  /** The same in every run that comes to the place, whatever the payload calls things. */
  readonly id: string;
  /** When it is, as in "the process died ...". */
  readonly words: string;
}

/** Tells places that look the same apart: the second time is another place. */
export class PointCounter {
  private readonly seen = new Map<string, number>();

  next(kind: string, words: string): CrashPoint {
    const nth = (this.seen.get(kind) ?? 0) + 1;
    this.seen.set(kind, nth);
    return { id: `${kind} #${nth}`, words };
  }
}

/** Chooses `most` of the points, in their order: the same for the same source of chance. */
export function choose(points: readonly CrashPoint[], most: number, random: () => number): readonly CrashPoint[] {
  if (points.length <= most) return points;
  const drawn = points.map((point, at) => ({ point, at, lot: random() })).sort((a, b) => a.lot - b.lot);
  return drawn
    .slice(0, Math.max(0, most))
    .sort((a, b) => a.at - b.at)
    .map(({ point }) => point);
}
