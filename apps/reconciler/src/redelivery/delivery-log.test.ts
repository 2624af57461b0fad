import { describe, expect, test } from '@jest/globals';
import type { LogMark } from '@paddock/db/deliveries/redelivery';
import type { WebhookDelivery } from '@paddock/github/deliveries';
import {
  gotThrough,
  hasArrived,
  judgeLog,
  readDeliveryLog,
  type ReadLogOptions,
} from './delivery-log.ts';

const NOON = Date.UTC(2026, 0, 1, 12);
/** An instant `minutes` before noon. */
const ago = (minutes: number): Date => new Date(NOON - minutes * 60_000);

const entry = (minutesAgo: number): WebhookDelivery => ({
  id: String(100_000 - minutesAgo),
  guid: `delivery-${minutesAgo}`,
  deliveredAt: ago(minutesAgo),
  status: 'OK',
  statusCode: 200,
  isThrottled: false,
  event: 'workflow_job',
  action: 'queued',
  installationId: 1,
  repositoryId: 2,
});

/**
 * A log with one delivery a minute, newest first, ten to a page; the cursor is the first entry's
 * age. Records which pages were asked for.
 */
function fakeLog({
  minutes = 500,
  failAtPage = 0,
}: { minutes?: number; failAtPage?: number } = {}) {
  const asked: string[] = [];
  const list: ReadLogOptions['list'] = async (cursor) => {
    asked.push(cursor ?? 'top');
    if (asked.length === failAtPage) return Promise.reject(new Error('GitHub is away'));
    const from = Number(cursor ?? 0);
    const ages = Array.from({ length: 10 }, (_, index) => from + index).filter(
      (age) => age < minutes,
    );
    return {
      deliveries: ages.map(entry),
      isCutOff: false,
      answeredAt: undefined,
      ...(from + 10 < minutes ? { nextCursor: String(from + 10) } : {}),
    };
  };
  return { asked, list };
}

const read = (list: ReadLogOptions['list'], mark: LogMark, more: Partial<ReadLogOptions> = {}) =>
  readDeliveryLog({
    list,
    mark,
    now: ago(0),
    windowMs: 15 * 60_000,
    horizonMs: 400 * 60_000,
    maxPages: 100,
    signal: new AbortController().signal,
    ...more,
  });

const guidsAgo = (attempts: readonly WebhookDelivery[]): number[] =>
  attempts.map(({ deliveredAt }) => (NOON - deliveredAt.getTime()) / 60_000);

describe('reading the delivery log (E1)', () => {
  test.each([
    ['the first reading down to the window; the last page counts whole', null, 15, 2, 19],
    ['after an outage down to what the last whole reading began with', 95, 95, 10, 95],
    ['down past entries that share the instant of the mark, and came later', 19, 19, 3, 20],
  ])('reads %s', async (_what, mark, since, pages, oldest) => {
    const { asked, list } = fakeLog();
    const reading = await read(list, { readTo: mark === null ? null : ago(mark) });
    expect(asked).toHaveLength(pages);
    expect(guidsAgo(reading.attempts)).toContain(oldest);
    expect(reading).toMatchObject({ mark: { readTo: ago(0) }, since: ago(since) });
    expect(reading.error).toBeUndefined();
  });

  test('a reading that fails half-way keeps its pages and its place, and the mark of the last whole one', async () => {
    const { list } = fakeLog({ failAtPage: 4 });
    const reading = await read(list, { readTo: ago(95) });
    expect(reading.error).toEqual(new Error('GitHub is away'));
    expect(reading.attempts).toHaveLength(30);
    expect(reading.mark).toEqual({ readTo: ago(95), rest: { cursor: '30', from: ago(0) } });
  });

  test.each([
    ['and goes on at that place', '30', 5, ['top', '10', '30', '40', '50', '60', '70', '80', '90']],
    [
      'down to the beginning of the one that broke off, though that is older than the window',
      '80',
      42,
      ['top', '10', '20', '30', '40', '80', '90'],
    ],
  ])('the next one reads what is new, %s', async (_how, cursor, from, pages) => {
    const { asked, list } = fakeLog();
    const reading = await read(list, { readTo: ago(95), rest: { cursor, from: ago(from) } });
    expect(asked).toEqual(pages);
    expect(reading).toMatchObject({ mark: { readTo: ago(0) }, since: ago(95) });
  });

  test('a log that is longer than a pass’s pages is read by the next passes, down to the mark', async () => {
    let mark: LogMark = { readTo: ago(200) };
    const seen = new Set<number>();
    for (let pass = 0; pass < 8; pass++) {
      const reading = await read(fakeLog().list, mark, { maxPages: 5 });
      for (const age of guidsAgo(reading.attempts)) seen.add(age);
      ({ mark } = reading);
    }
    expect(mark).toEqual({ readTo: ago(0) });
    expect([...seen].toSorted((a, b) => a - b).slice(0, 200)).toEqual(
      Array.from({ length: 200 }, (_, age) => age),
    );
  });

  test('an empty log is no error, and the mark stays', async () => {
    const reading = await read(fakeLog({ minutes: 0 }).list, { readTo: ago(7) });
    const mark = { readTo: ago(7) };
    expect(reading).toEqual({ attempts: [], pages: 1, mark, since: ago(15) });
  });

  test('a circle of cursors ends the reading where it closes: its pages count, and the entries below stay to be read', async () => {
    const { asked, list } = fakeLog();
    const circle: ReadLogOptions['list'] = async (cursor) => {
      const page = await list(cursor);
      return page.nextCursor === '40' ? { ...page, nextCursor: '10' } : page;
    };
    const reading = await read(circle, { readTo: ago(95) });
    expect(asked).toEqual(['top', '10', '20', '30']);
    expect(reading.error).toMatchObject({ message: expect.stringContaining('goes in a circle') });
    expect(reading.attempts).toHaveLength(40);
    expect(reading.mark).toEqual({ readTo: ago(95), rest: { cursor: '10', from: ago(0) } });
  });

  test.each([
    { page: 'the first page', emptyFrom: 'top', pages: 1, rest: undefined },
    { page: 'a later page', emptyFrom: '20', pages: 3, rest: { cursor: '20', from: ago(0) } },
  ])(
    '$page, empty and not the last, ends the reading; the entries below stay to be read',
    async ({ emptyFrom, pages, rest }) => {
      const { asked, list } = fakeLog();
      const reading = await read(
        async (cursor) =>
          (cursor ?? 'top') === emptyFrom
            ? { deliveries: [], nextCursor: 'further', isCutOff: false, answeredAt: undefined }
            : list(cursor),
        { readTo: ago(95) },
      );
      expect(asked).toHaveLength(pages - 1);
      expect(reading.pages).toBe(pages);
      expect(reading.error).toMatchObject({ message: expect.stringContaining('an empty page') });
      expect(reading.mark).toEqual({ readTo: ago(95), ...(rest && { rest }) });
    },
  );

  test('a full page without a known next page counts, and the mark stays', async () => {
    const { asked, list } = fakeLog();
    const cutOff: ReadLogOptions['list'] = async (cursor) => {
      const { deliveries, answeredAt } = await list(cursor);
      return { deliveries, answeredAt, isCutOff: true };
    };
    const reading = await read(cutOff, { readTo: ago(95) });
    expect(asked).toEqual(['top']);
    expect(reading.attempts).toHaveLength(10);
    expect(reading.error).toMatchObject({
      message: expect.stringContaining('a full page of the delivery log without a cursor'),
    });
    expect(reading.mark).toEqual({ readTo: ago(95) });
    // No call for entries below, once the page itself reaches far enough.
    const enough = await read(cutOff, { readTo: ago(2) }, { windowMs: 5 * 60_000 });
    expect(enough.error).toBeUndefined();
    expect(enough.mark).toEqual({ readTo: ago(0) });
  });

  test('the log is read down to the entries that GitHub can still repeat, and no further', async () => {
    const { asked, list } = fakeLog();
    const mark = { readTo: ago(480), rest: { cursor: '30', from: ago(5) } };
    const reading = await read(list, mark, { horizonMs: 60 * 60_000 });
    expect(asked).toEqual(['top', '10', '30', '40', '50', '60']);
    expect(reading.mark).toEqual({ readTo: ago(0) });
  });
});

const at = (minute: number): Date => new Date(Date.UTC(2026, 0, 1, 12, minute));

const attempt = (overrides: Partial<WebhookDelivery>): WebhookDelivery => ({
  id: '1',
  guid: 'a',
  deliveredAt: at(0),
  status: 'failed to connect to host',
  statusCode: 0,
  isThrottled: false,
  event: 'workflow_job',
  action: 'queued',
  installationId: 7,
  repositoryId: 8,
  ...overrides,
});

describe('judging a delivery log (E1)', () => {
  test('a delivery without an attempt that got through is to be repeated by its most recent attempt', () => {
    const verdict = judgeLog([
      attempt({ id: '30', deliveredAt: at(3), statusCode: 503 }),
      attempt({ id: '10', deliveredAt: at(1), statusCode: 502 }),
      attempt({ id: '20', deliveredAt: at(2), statusCode: 0 }),
    ]);
    const failed = { firstFailedAt: at(1), lastFailedAt: at(3), lastStatusCode: 503 };
    const delivery = { guid: 'a', isDelivered: false, deliveryId: '30', ...failed };
    expect(verdict).toMatchObject({ lastSuccess: undefined, deliveries: [delivery] });
  });

  test('one successful attempt is enough, at any place among failures', () => {
    const attempts = [attempt({ id: '3', deliveredAt: at(3) }), attempt({ id: '1' })];
    const success = attempt({ id: '2', deliveredAt: at(2), statusCode: 200 });
    expect(judgeLog([...attempts, success])).toMatchObject({
      deliveries: [{ guid: 'a', isDelivered: true }],
      lastSuccess: { id: '2' },
    });
  });

  test('events that change nothing for us are not repeated, but their success shows that our endpoint responds', () => {
    const ping = attempt({ event: 'ping', action: null, statusCode: 200, deliveredAt: at(9) });
    const push = attempt({ guid: 'push', event: 'push', action: null });
    expect(judgeLog([push, ping])).toEqual({ deliveries: [], lastSuccess: ping });
  });

  test.each(['workflow_job', 'installation', 'installation_repositories', 'installation_target'])(
    '%s is repeated',
    (event) => expect(judgeLog([attempt({ event })]).deliveries).toHaveLength(1),
  );

  test.each([
    ['9', '10', '8'],
    ['3804004623172239365', '3804004623172239366', '199287304442'],
  ])('of the attempts %s, %s and %s in the same second the second is the most recent', (...ids) => {
    expect(judgeLog(ids.map((id) => attempt({ id }))).deliveries[0]?.deliveryId).toBe(ids[1]);
  });

  test.each([
    [200, '', true],
    [299, '', true],
    [0, 'OK', true],
    [302, 'redirected', false],
    [0, '', false],
    [199, '', false],
    [400, '', false],
  ])('status code %d with status %j got through: %s', (statusCode, status, expected) => {
    expect(gotThrough(attempt({ statusCode, status }))).toBe(expected);
  });
});

test('a delivery that GitHub calls successful has arrived if its row is here, or if it needs none (E1)', () => {
  const attempts = [
    attempt({ guid: 'code', statusCode: 204 }),
    attempt({ guid: 'word', status: 'OK' }),
    attempt({ guid: 'stored', statusCode: 200 }),
    attempt({ guid: 'given', event: 'installation_repositories', statusCode: 200 }),
    attempt({ guid: 'failed', event: 'installation_repositories' }),
  ];
  const arrived = judgeLog(attempts).deliveries.filter((one) =>
    hasArrived(one, new Set(['stored'])),
  );
  expect(arrived.map(({ guid }) => guid)).toEqual(['stored', 'given']);
});
