import { gated } from '../../test/support/payloads';
import { itemsOf } from '../../test/support/rig';
import { outline, type ReadEvent } from '../fixtures/event-reader';
import { eachWithEvents, is, isState } from '../fixtures/event-world';
import { bodyOf, call, get, json, post, problem, submit } from '../fixtures/http';
import { jobSchema, logLineSchema, logPageSchema, progressSchema } from '../schemas';

const world = eachWithEvents();

describe('a stream of events', () => {
  it('tells the job, each change of its state, and its end; then it is closed', async () => {
    const gate = gated();
    await world.open({ payloads: [gate.payload], worker: true });
    const answer = await post(world.api.url, bodyOf([{ id: 'a', input: {} }], { capability: 'test.gate@1' }));
    const { id } = json(answer, jobSchema, 202);
    const reader = await world.read(id);
    expect([reader.status, reader.headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8']);
    await reader.find(isState('running'));
    await call(world.api.url, `/v1/jobs/${id}/pause`, { method: 'POST' });
    await reader.find(isState('paused'));
    await call(world.api.url, `/v1/jobs/${id}/resume`, { method: 'POST' });
    gate.open();
    await reader.ended;
    // Where the workflow is this process, the first unit may be quicker than the news of the start.
    const told = outline(reader.events).filter((line) => line !== 'state expanding');
    expect(reader.events[0]!.event).toBe('job');
    expect(told.slice(1)).toEqual([
      'state accepted',
      'state running',
      'state paused',
      'state running',
      'state succeeded',
      'end succeeded',
    ]);
    expect(reader.events.at(-1)!.data).toEqual(await get(world.api.url, `/v1/jobs/${id}`, jobSchema));
    expect(jobSchema.parse(reader.events[0]!.data)).toEqual(reader.events[0]!.data);
  });

  it('gives every line of the log where it is asked for, each with its number as id', async () => {
    await world.open();
    const id = await world.submitTwo();
    await world.note(id, 'a note with\na line break');
    const reader = await world.read(id, { query: '?log=true' });
    await reader.find(is('log'));
    await world.note(id, 'another');
    await world.cancel(id);
    await reader.ended;
    expect(outline(reader.events).slice(1)).toEqual([
      'state accepted',
      'state expanding',
      'log a note with\na line break',
      'log another',
      'state cancelling',
      'state cancelled',
      'end cancelled',
    ]);
    const lines = reader.events.filter(({ event }) => event === 'log' || event === 'state');
    const page = await get(world.api.url, `/v1/jobs/${id}/log`, logPageSchema);
    expect(lines.map(({ data }) => logLineSchema.parse(data))).toEqual(page.lines);
    expect(lines.map(({ event: _, id: given }) => given)).toEqual(page.lines.map(({ no }) => String(no)));
    for (const { event, id: given } of reader.events) {
      if (event !== 'log' && event !== 'state') expect(given).toBeUndefined();
    }
  });

  it('tells the counts when they have changed, once a second however often they change', async () => {
    await world.open();
    const { id } = await submit(world.api.url, itemsOf(40));
    const { no } = await world.record(id);
    const reader = await world.read(id);
    await reader.find(isState('expanding'));
    const from = performance.now();
    const fence = { jobNo: no, generation: 1, seq: 1, delivery: 'first' };
    await world.api.store.openUnit(fence, { worker: 'w', size: 40, running: 0 });
    const flush = { fence, parked: [], usage: [], log: [], running: 0, progress: {}, close: false };
    for (let index = 0; index < 40; index++) {
      const settled = [{ index, outcome: 'succeeded', attempts: 1, body: { result: index } } as const];
      await world.api.store.settle([{ ...flush, settled }]);
    }
    const { data } = await reader.find(
      ({ event, data: { counts } }) => event === 'progress' && (counts as { succeeded: number }).succeeded === 40,
    );
    expect(progressSchema.parse(data)).toEqual(data);
    // A reader of 1 KB/s keeps up.
    expect(Buffer.byteLength(JSON.stringify(data))).toBeLessThan(300);
    const seconds = (performance.now() - from) / 1_000;
    // The change of state to running has its counts with it.
    expect(reader.events.filter(is('progress')).length).toBeLessThanOrEqual(seconds + 2);
  });

  it('is heard of in another process within a second', async () => {
    await world.open();
    const id = await world.submitTwo();
    const reader = await world.read(id, {}, await world.api.second());
    await reader.find(isState('expanding'));
    const at = performance.now();
    await world.cancel(id);
    await reader.ended;
    expect(performance.now() - at).toBeLessThan(1_000);
  });

  it.each([
    ['one that there is not', '/v1/jobs/nobody/events', 'job_not_found'],
    ['a query that does not fit', '', 'invalid_request'],
  ] as const)('is refused for %s', async (_, path, code) => {
    await world.open();
    const target = path === '' ? `/v1/jobs/${await world.submitTwo()}/events?log=perhaps` : path;
    problem(await call(world.api.url, target), code);
  });

  it('answers a HEAD without beginning', async () => {
    await world.open();
    const answer = await call(world.api.url, `/v1/jobs/${await world.submitTwo()}/events`, { method: 'HEAD' });
    expect([answer.status, answer.headers['content-type'], answer.text]).toEqual([
      200,
      expect.stringMatching('event-stream'),
      '',
    ]);
  });
});

describe('a reader that comes back', () => {
  it('goes on behind the event that it had last, without a gap', async () => {
    await world.open();
    const id = await world.submitTwo();
    const seen: ReadEvent[] = [];
    let lastEventId: string | undefined;
    for (let at = 0; at < 5; at++) {
      await world.note(id, `line ${at}`);
      const reader = await world.read(id, { query: '?log=true', ...(lastEventId !== undefined && { lastEventId }) });
      await reader.find(({ data }) => data['message'] === `line ${at}`);
      reader.destroy();
      seen.push(...reader.events.filter((event) => event.id !== undefined));
      lastEventId = seen.at(-1)!.id;
      // While nobody reads.
      await world.note(id, `between ${at}`);
    }
    await world.cancel(id);
    const last = await world.read(id, { query: '?log=true', lastEventId: lastEventId! });
    await last.ended;
    seen.push(...last.events.filter((event) => event.id !== undefined));
    const { lines } = await get(world.api.url, `/v1/jobs/${id}/log`, logPageSchema);
    expect(seen.map((event) => event.id)).toEqual(lines.map(({ no }) => String(no)));
    expect(last.events.some(is('reset'))).toBe(false);
    expect(last.events.at(-1)!.event).toBe('end');
  });

  it.each([
    ['garbage', () => 'what is this?'],
    ['a number that nothing has yet', () => '999999'],
    ['a number before the first', () => '0'],
    ['more digits than a number has', () => '9'.repeat(40)],
    ['an event of another job', (other: string) => other],
  ])('is told that all comes again: %s', async (_, given) => {
    await world.open();
    const other = await world.submitTwo();
    const id = await world.submitTwo();
    const [line] = await world.api.store.log((await world.record(other)).no, { after: 0, limit: 1 });
    const reader = await world.read(id, { lastEventId: given(String(line!.no)) });
    await reader.find(isState('expanding'));
    expect(outline(reader.events)).toEqual(['reset', 'job expanding', 'state accepted', 'state expanding']);
    // The client forgets the id that leads nowhere.
    expect(reader.events[0]!.id).toBe('');
  });

  it('is told the end again, whatever it had last', async () => {
    await world.open();
    const id = await world.submitTwo();
    await world.cancel(id);
    const first = await world.read(id);
    await first.ended;
    const lastEventId = first.events.filter((event) => event.id !== undefined).at(-1)!.id!;
    for (const options of [{ lastEventId }, {}, { lastEventId: 'x' }, { lastEventId, query: '?log=true' }]) {
      const again = await world.read(id, options);
      await again.ended;
      expect(again.events.at(-1)).toEqual(first.events.at(-1));
    }
  });
});

describe('the log', () => {
  it('is given with what the state became, and narrowed to a level or a speaker', async () => {
    await world.open();
    const id = await world.submitTwo();
    await world.note(id, 'a note');
    await world.api.store.appendLog((await world.record(id)).no, {
      level: 'error',
      source: 'payload',
      message: 'alas',
    });
    const texts = async (query: string): Promise<unknown[]> =>
      (await get(world.api.url, `/v1/jobs/${id}/log${query}`, logPageSchema)).lines.map((line) => [
        line.message,
        line.state,
      ]);
    expect(await texts('?limit=1')).toEqual([['accepted with 2 items', 'accepted']]);
    expect(await texts('?level=error')).toEqual([['alas', null]]);
    expect(await texts('?source=payload')).toEqual([['alas', null]]);
    expect(await texts('?source=payload&level=info')).toEqual([]);
    problem(await call(world.api.url, `/v1/jobs/${id}/log?level=loud`), 'invalid_request');
  });
});
