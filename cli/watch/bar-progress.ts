import type { SingleBar } from 'cli-progress';
import type { JobJson } from '../client/api';
import { lazy } from '../lazy';
import type { Session } from '../session';
import { formatDuration } from '../text/duration';
import { formatCount } from '../text/number';
import { figures } from './figures';
import type { Progress } from './progress';
import { Rate } from './rate';

/** One line that is drawn over and over. */
export class BarProgress implements Progress {
  private readonly bar: SingleBar;
  private started = false;
  private readonly rate = new Rate();
  /** A bar that is not stopped leaves the terminal without line wrapping. */
  private readonly onExit = (): void => this.bar.stop();

  constructor(private readonly session: Pick<Session, 'stderr' | 'clock'>) {
    const { SingleBar, Presets } = lazy.cliProgress();
    const options = {
      format: '{bar} {percentage}% {done}/{items} {text}{speed}',
      stream: session.stderr as NodeJS.WriteStream,
      barsize: 24,
      // Ctrl-C is the command's business.
      gracefulExit: false,
    };
    this.bar = new SingleBar(options, Presets.shades_classic);
  }

  update(job: JobJson): void {
    const { done, text } = figures(job);
    this.rate.add(this.session.clock.now(), done);
    const payload = {
      done: formatCount(done),
      items: formatCount(job.items),
      text,
      speed: this.speed(job.items - done),
    };
    if (this.started) return this.bar.update(done, payload);
    this.started = true;
    process.once('exit', this.onExit);
    this.bar.start(job.items, done, payload);
  }

  notice(message: string): void {
    // The bar is begun anew below the message.
    this.end();
    this.session.stderr.write(`${message}\n`);
  }

  end(): void {
    process.off('exit', this.onExit);
    if (this.started) this.bar.stop();
    this.started = false;
  }

  private speed(left: number): string {
    const perSecond = this.rate.perSecond();
    if (!perSecond) return '';
    return ` ${formatCount(perSecond)}/s${left > 0 ? `, ${formatDuration((left * 1_000) / perSecond)} left` : ''}`;
  }
}
