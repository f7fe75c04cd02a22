import type { Client, OutputFlags } from '../cli';
import type { JobJson } from '../client/api';
import { exitCodeOf, type ExitCode } from '../exit-codes';
import { Interrupted, Unreachable } from '../failure';
import { writeJson, writeLine } from '../output';
import { follow } from '../watch/follow';
import { createProgress, type Progress } from '../watch/progress';
import { summarize } from '../watch/summary';

/** Follows a job to its end and says what it came to. Stopping to watch does not stop the job. */
export async function watchToEnd(client: Client, from: JobJson | string, { json }: OutputFlags): Promise<ExitCode> {
  const job = await followOrLeave(client, from, json ?? false);
  if (json) await writeJson(client.session.stdout, job);
  else await writeLine(client.session.stdout, await summarize(job, client.api, client.hint));
  return exitCodeOf(job.state);
}

async function followOrLeave(client: Client, from: JobJson | string, json: boolean): Promise<JobJson> {
  const { session, api, hint } = client;
  let last = typeof from === 'string' ? undefined : from;
  const progress = remembering(createProgress(session), (job) => (last = job));
  try {
    return await follow(from, { api, progress, clock: session.clock, signal: session.signal });
  } catch (error) {
    const back = `the job goes on; back to it: ${hint(`watch ${typeof from === 'string' ? from : from.id}`)}`;
    if (error instanceof Unreachable) throw new Unreachable(`${error.message}; ${back}`, { cause: error });
    if (!(error instanceof Interrupted)) throw error;
    // A machine gets its line of JSON, if there is one, to have the id.
    if (json && last) await writeJson(session.stdout, last);
    throw new Interrupted(`Interrupted; ${back}`);
  }
}

function remembering(progress: Progress, remember: (job: JobJson) => void): Progress {
  return {
    update: (job) => {
      remember(job);
      progress.update(job);
    },
    notice: (message) => progress.notice(message),
    end: () => progress.end(),
  };
}
