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

type Page = Awaited<ReturnType<ReadLogOptions['list']>>;

/**
 * A log with one delivery a minute, newest first, ten to a page; the cursor is the first entry's
 * age. Records which pages were asked for.
 */
function fakeLog(minutes = 500) {
  const asked: string[] = [];
  const list = (cursor?: string): Promise<Page> => {
    asked.push(cursor ?? 'top');
    const from = Number(cursor ?? 0);
    const ages = Array.from({ length: 10 }, (_, index) => from + index);
    return Promise.resolve({
      deliveries: ages.filter((age) => age < minutes).map(entry),
      isCutOff: false,
      answeredAt: undefined,
      ...(from + 10 < minutes && { nextCursor: String(from + 10) }),
    });
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

  test.each<[string, (page: Page, cursor: string) => Page, string, number, number, string | null]>([
    [
      'fails half-way',
      (page, cursor) => {
        if (cursor === '30') throw new Error('GitHub is away');
        return page;
      },
      'GitHub is away',
      3,
      30,
      '30',
    ],
    [
      'goes in a circle',
      (page) => (page.nextCursor === '40' ? { ...page, nextCursor: '10' } : page),
      'goes in a circle',
      4,
      40,
      '10',
    ],
    [
      'has a full page without a cursor',
      ({ nextCursor: _next, ...page }) => ({ ...page, isCutOff: true }),
      'a full page of the delivery log without a cursor',
      1,
      10,
      null,
    ],
  ])(
    'a reading that %s keeps its pages and its place, and the mark of the last whole one',
    async (_what, change, message, pages, attempts, cursor) => {
      const { list } = fakeLog();
      const changed: ReadLogOptions['list'] = async (at) => change(await list(at), at ?? 'top');
      const reading = await read(changed, { readTo: ago(95) });
      expect(reading.error).toMatchObject({ message: expect.stringContaining(message) });
      expect([reading.pages, reading.attempts.length]).toEqual([pages, attempts]);
      const rest = cursor !== null && { rest: { cursor, from: ago(0) } };
      expect(reading.mark).toEqual({ readTo: ago(95), ...rest });
    },
  );

  test.each(['top', '20'])(
    'goes on behind the page at %s, although no entry of it can be read',
    async (bad) => {
      const { list } = fakeLog();
      const reading = await read(
        async (cursor) => {
          const page = await list(cursor);
          return (cursor ?? 'top') === bad ? { ...page, deliveries: [] } : page;
        },
        { readTo: ago(95) },
      );
      expect(reading.error).toBeUndefined();
      expect([reading.pages, reading.attempts.length]).toEqual([10, 90]);
      expect(reading.mark).toEqual({ readTo: bad === 'top' ? ago(10) : ago(0) });
    },
  );

  test.each([
    ['and goes on at that place', '30', 5, ['top', '10', '30', '40', '50', '60', '70', '80', '90']],
    ['down to the beginning of that one', '80', 42, ['top', '10', '20', '30', '40', '80', '90']],
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
    const reading = await read(fakeLog(0).list, { readTo: ago(7) });
    const mark = { readTo: ago(7) };
    expect(reading).toEqual({ attempts: [], pages: 1, mark, since: ago(15) });
  });

  test('a full page without a cursor is enough where it reaches as far as it must', async () => {
    const { list } = fakeLog();
    const cutOff: ReadLogOptions['list'] = async (cursor) => {
      const { nextCursor: _next, ...page } = await list(cursor);
      return { ...page, isCutOff: true };
    };
    const reading = await read(cutOff, { readTo: ago(2) }, { windowMs: 5 * 60_000 });
    expect(reading.error).toBeUndefined();
    expect(reading.mark).toEqual({ readTo: ago(0) });
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

test('a delivery that GitHub calls successful has arrived if its row is here, or if it needs none, as where ingress heard it (E1)', () => {
  const attempts = [
    attempt({ guid: 'code', statusCode: 204 }),
    attempt({ guid: 'word', status: 'OK' }),
    attempt({ guid: 'stored', statusCode: 200 }),
    attempt({ guid: 'given', event: 'installation_repositories', statusCode: 200 }),
    attempt({ guid: 'failed', event: 'installation_repositories' }),
  ];
  const arrived = (isUnheard: boolean) =>
    judgeLog(attempts)
      .deliveries.filter((one) => hasArrived(one, new Set(['stored']), isUnheard))
      .map(({ guid }) => guid);
  expect(arrived(false)).toEqual(['stored', 'given']);
  expect(arrived(true)).toEqual(['stored']);
});
