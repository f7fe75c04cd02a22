import { seededRandom } from '../../testing/seeded-random';

/** A seeded source. Forks by name are independent of each other: a draw more in one place shifts nothing in another. */
export class Rng {
  private readonly draw: () => number;

  constructor(private readonly seed: string) {
    this.draw = seededRandom(hash(seed));
  }

  fork(name: string): Rng {
    return new Rng(`${this.seed}/${name}`);
  }

  /** A number in [0, 1). */
  readonly next = (): number => this.draw();

  chance(probability: number): boolean {
    return this.draw() < probability;
  }

  /** A whole number from `lo` to `hi`, both included. */
  int(lo: number, hi: number): number {
    return lo + Math.floor(this.draw() * (hi - lo + 1));
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.draw() * list.length)]!;
  }

  /** One of the names, each as likely as its weight. */
  weighted<K extends string>(weights: Readonly<Partial<Record<K, number>>>): K {
    const entries = Object.entries(weights) as [K, number][];
    let left = this.draw() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) {
      left -= weight;
      if (left < 0) return name;
    }
    return entries[entries.length - 1]![0];
  }

  /** A UUID in looks only. */
  id(): string {
    const hex = (): string => this.int(0, 0xffffffff).toString(16).padStart(8, '0');
    const [a, b, c, d] = [hex(), hex(), hex(), hex()];
    return `${a}-${b.slice(0, 4)}-${b.slice(4)}-${c.slice(0, 4)}-${c.slice(4)}${d}`;
  }
}

/** FNV-1a with a last mixing. */
function hash(text: string): number {
  let bits = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) bits = Math.imul(bits ^ text.charCodeAt(i), 0x01000193);
  bits = Math.imul(bits ^ (bits >>> 16), 0x21f0aaad);
  bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97);
  return (bits ^ (bits >>> 15)) >>> 0;
}
