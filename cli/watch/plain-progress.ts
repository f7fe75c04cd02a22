import type { JobJson } from '../client/api';
import type { Session } from '../session';
import { formatCount } from '../text/number';
import { figures } from './figures';
import type { Progress } from './progress';
import { Rate } from './rate';

const EVERY_MS = 2_000;

/** A line when something has changed, at most every two seconds; and one at the end. */
export class PlainProgress implements Progress {
  private lastLine = '';
  private lastAt = -Infinity;
  private readonly rate = new Rate();

  constructor(private readonly session: Pick<Session, 'stderr' | 'clock'>) {}

  update(job: JobJson): void {
    const now = this.session.clock.now();
    const { done, text } = figures(job);
    this.rate.add(now, done);
    const line = `${formatCount(done)}/${formatCount(job.items)} ${text}`;
    const due = now - this.lastAt >= EVERY_MS || job.finishedAt !== null;
    if (line === this.lastLine || !due) return;
    this.lastLine = line;
    this.lastAt = now;
    const perSecond = this.rate.perSecond();
    this.session.stderr.write(`${line}${perSecond ? ` (${formatCount(perSecond)}/s)` : ''}\n`);
  }

  notice(message: string): void {
    this.session.stderr.write(`${message}\n`);
  }

  end(): void {
    // Each line stands for itself.
  }
}
