import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils';
import { DefaultLogger, Worker, bundleWorkflowCode, type WorkflowBundleOption, Runtime } from '@temporalio/worker';

const FOLDER = join(__dirname, 'histories');
const files = readdirSync(FOLDER, { recursive: true })
  .map(String)
  .filter((file) => file.endsWith('.json'));

type History = ReturnType<typeof historyFromJSON>;

function load(file: string): History {
  return historyFromJSON(JSON.parse(readFileSync(join(FOLDER, file), 'utf8')));
}

/** What a failing replay means: jobs that run now would stop at the next deploy. */
describe('the job workflow replays every committed history', () => {
  let workflowBundle: WorkflowBundleOption;

  beforeAll(async () => {
    Runtime.install({ logger: new DefaultLogger('ERROR', () => undefined) });
    workflowBundle = await bundleWorkflowCode({
      workflowsPath: join(__dirname, '..', '..', 'workflows'),
      logger: new DefaultLogger('ERROR'),
    });
  }, 60_000);

  it.each(files)('%s', async (file) => {
    await Worker.runReplayHistory({ workflowBundle }, load(file));
  });

  it('among them one with retries, one cancelled, and one that rolled over', () => {
    const events = (name: string): (string | null | undefined)[] =>
      files
        .filter((file) => file.includes(name))
        .flatMap((file) => load(file).events!.map((event) => String(event.eventType)));
    const has = (name: string, attributes: string): boolean =>
      files
        .filter((file) => file.includes(name))
        .some((file) =>
          load(file).events!.some((event) => attributes in event && event[attributes as keyof typeof event] !== null),
        );
    expect(events('retries').length).toBeGreaterThan(20);
    expect(has('retries', 'timerFiredEventAttributes')).toBe(true);
    expect(has('cancelled', 'activityTaskCancelRequestedEventAttributes')).toBe(true);
    expect(has('cancelledInTemporal', 'workflowExecutionCancelRequestedEventAttributes')).toBe(true);
    expect(has('rollover', 'workflowExecutionContinuedAsNewEventAttributes')).toBe(true);
    expect(has('rollover', 'activityTaskFailedEventAttributes')).toBe(true);
  });

  it('among them one whose items wait, and one with items in quarantine', () => {
    const lanes = (name: string): string[] =>
      files
        .filter((file) => file.includes(name))
        .flatMap((file) => load(file).events!)
        .flatMap((event) => event.activityTaskScheduledEventAttributes?.input?.payloads ?? [])
        .flatMap((payload) => /"lane":"(\w+)"/.exec(Buffer.from(payload.data!).toString('utf8'))?.[1] ?? []);
    expect(lanes('waits')).toContain('check');
    expect(lanes('suspects')).toContain('quarantine');
  });

  it('fails for a history that the workflow would not have made', async () => {
    const history = load(files.find((file) => file.includes('retries'))!);
    const scheduled = history.events!.find((event) => event.activityTaskScheduledEventAttributes);
    scheduled!.activityTaskScheduledEventAttributes!.activityId = 'u999';
    await expect(Worker.runReplayHistory({ workflowBundle }, history)).rejects.toThrow();
  });
});
