import type { JobJson } from '../client/api';
import type { Session } from '../session';
import { BarProgress } from './bar-progress';
import { PlainProgress } from './plain-progress';

/** Shows how far a job is. */
export interface Progress {
  update(job: JobJson): void;
  /** Something that the person should know, whatever the job does. */
  notice(message: string): void;
  /** No more updates come. */
  end(): void;
}

/** A bar on a terminal, else plain lines; on stderr, so that stdout is free for what was asked for. */
export function createProgress(session: Pick<Session, 'stderr' | 'terminal' | 'clock'>): Progress {
  return session.terminal ? new BarProgress(session) : new PlainProgress(session);
}
