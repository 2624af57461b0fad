import type { ListedSpan } from '@paddock/db/deliveries/delivery-listings';
import { describe, expect, test } from '@jest/globals';
import type { DeliveryAttempt } from './judge-delivery-log.ts';
import {
  CutOffLogError,
  type LogPage,
  type ReadLogOptions,
  readDeliveryLog,
} from './read-delivery-log.ts';

const NOON = Date.UTC(2026, 0, 1, 12);
/** An instant `minutes` before noon. */
const ago = (minutes: number): Date => new Date(NOON - minutes * 60_000);

const entry = (minutesAgo: number): DeliveryAttempt => ({
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
  const fetchPage = async (cursor: string | undefined): Promise<LogPage> => {
    asked.push(cursor ?? 'top');
    if (asked.length === failAtPage) return Promise.reject(new Error('GitHub is away'));
    const from = Number(cursor ?? 0);
    const ages = Array.from({ length: 10 }, (_, index) => from + index).filter(
      (age) => age < minutes,
    );
    return {
      deliveries: ages.map(entry),
      nextCursor: from + 10 < minutes ? String(from + 10) : undefined,
    };
  };
  return { asked, fetchPage };
}

const read = (
  fetchPage: ReadLogOptions['fetchPage'],
  spans: readonly ListedSpan[],
  more: Partial<ReadLogOptions> = {},
) =>
  readDeliveryLog({
    fetchPage,
    isCursorRefused: () => false,
    spans,
    now: ago(0),
    windowMs: 15 * 60_000,
    horizonMs: 400 * 60_000,
    maxPages: 100,
    signal: new AbortController().signal,
    ...more,
  });

const guidsAgo = (attempts: readonly DeliveryAttempt[]): number[] =>
  attempts.map(({ deliveredAt }) => (NOON - deliveredAt.getTime()) / 60_000);

describe('reading the delivery log (E1)', () => {
  test('the first listing ends with the page that lies behind the window, and that page counts whole', async () => {
    const { asked, fetchPage } = fakeLog();
    const reading = await read(fetchPage, []);
    expect(asked).toEqual(['top', '10']);
    expect(guidsAgo(reading.attempts)).toContain(19);
    expect(reading.spans).toEqual([{ newestAt: ago(0), oldestAt: ago(19), cursor: null }]);
    expect(reading.error).toBeUndefined();
  });

  test('after an outage longer than the window, lists down to the last complete listing', async () => {
    const { asked, fetchPage } = fakeLog();
    const reading = await read(fetchPage, [
      { newestAt: ago(95), oldestAt: ago(130), cursor: null },
    ]);
    expect(asked).toHaveLength(10);
    expect(guidsAgo(reading.attempts)).toContain(95);
    expect(reading.spans).toEqual([{ newestAt: ago(0), oldestAt: ago(130), cursor: null }]);
  });

  test('a listing that fails half-way keeps its pages and its place, and the mark of the last complete one', async () => {
    const { fetchPage } = fakeLog({ failAtPage: 4 });
    const complete = { newestAt: ago(95), oldestAt: ago(130), cursor: null };
    const reading = await read(fetchPage, [complete]);
    expect(reading.error).toEqual(new Error('GitHub is away'));
    expect(reading.attempts).toHaveLength(30);
    expect(reading.spans).toEqual([
      { newestAt: ago(0), oldestAt: ago(29), cursor: '30' },
      complete,
    ]);
  });

  test('the gap that such a listing left is filled from its cursor by the next cycle', async () => {
    const { asked, fetchPage } = fakeLog();
    const reading = await read(fetchPage, [
      { newestAt: ago(5), oldestAt: ago(29), cursor: '30' },
      { newestAt: ago(95), oldestAt: ago(130), cursor: null },
    ]);
    expect(asked).toEqual(['top', '10', '30', '40', '50', '60', '70', '80', '90']);
    expect(reading.spans).toEqual([{ newestAt: ago(0), oldestAt: ago(130), cursor: null }]);
  });

  test('a listing that is longer than a cycle’s pages goes on in the next cycles until it meets the older one', async () => {
    let spans: ListedSpan[] = [{ newestAt: ago(200), oldestAt: ago(230), cursor: null }];
    const seen = new Set<number>();
    for (let cycle = 0; cycle < 8; cycle++) {
      const reading = await read(fakeLog().fetchPage, spans, { maxPages: 5 });
      for (const age of guidsAgo(reading.attempts)) seen.add(age);
      ({ spans } = reading);
    }
    expect(spans).toEqual([{ newestAt: ago(0), oldestAt: ago(230), cursor: null }]);
    expect([...seen].toSorted((a, b) => a - b).slice(0, 200)).toEqual(
      Array.from({ length: 200 }, (_, age) => age),
    );
  });

  test('a log that ends leaves no gap', async () => {
    const reading = await read(fakeLog({ minutes: 12 }).fetchPage, [
      { newestAt: ago(300), oldestAt: ago(310), cursor: null },
    ]);
    expect(reading.attempts).toHaveLength(12);
    expect(reading.spans).toEqual([{ newestAt: ago(0), oldestAt: ago(310), cursor: null }]);
  });

  test('an empty log is no error', async () => {
    const reading = await read(fakeLog({ minutes: 0 }).fetchPage, []);
    expect(reading).toMatchObject({ attempts: [], pages: 1 });
    expect(reading.error).toBeUndefined();
  });

  test('a cursor that GitHub refuses is given up, and the next cycle lists from the top', async () => {
    const { fetchPage } = fakeLog({ failAtPage: 3 });
    const older = { newestAt: ago(95), oldestAt: ago(130), cursor: null };
    const reading = await read(
      fetchPage,
      [{ newestAt: ago(5), oldestAt: ago(29), cursor: '30' }, older],
      { isCursorRefused: () => true },
    );
    expect(reading.spans).toEqual([older]);
    const { asked, fetchPage: again } = fakeLog();
    await read(again, reading.spans);
    expect(asked).toHaveLength(10);
  });

  test('a circle of cursors ends the listing where it closes: its pages count, and the entries below stay a gap', async () => {
    const { asked, fetchPage } = fakeLog();
    const circle: ReadLogOptions['fetchPage'] = async (cursor) => {
      const page = await fetchPage(cursor);
      return { ...page, nextCursor: page.nextCursor === '40' ? '10' : page.nextCursor };
    };
    const older = { newestAt: ago(95), oldestAt: ago(130), cursor: null };
    const reading = await read(circle, [older]);
    expect(asked).toEqual(['top', '10', '20', '30']);
    expect(reading.error).toEqual(
      new Error(
        'the delivery log goes in a circle: GitHub named a cursor that was already followed',
      ),
    );
    expect(reading.attempts).toHaveLength(40);
    expect(reading.spans).toEqual([{ newestAt: ago(0), oldestAt: ago(39), cursor: '10' }, older]);
  });

  test.each([
    { page: 'the first page', emptyFrom: 'top', pages: 1, spans: [] },
    {
      page: 'a later page',
      emptyFrom: '20',
      pages: 3,
      spans: [{ newestAt: ago(0), oldestAt: ago(19), cursor: '20' }],
    },
  ])(
    '$page, empty and not the last, ends the listing; the entries below stay a gap',
    async ({ emptyFrom, pages, spans }) => {
      const { asked, fetchPage } = fakeLog();
      const older = { newestAt: ago(95), oldestAt: ago(130), cursor: null };
      const reading = await read(
        async (cursor = 'top') =>
          cursor === emptyFrom
            ? { deliveries: [], nextCursor: 'further' }
            : fetchPage(cursor === 'top' ? undefined : cursor),
        [older],
      );
      expect(asked).toHaveLength(pages - 1);
      expect(reading.pages).toBe(pages);
      expect(reading.error).toEqual(
        new Error('GitHub answered an empty page of the delivery log with a cursor for the next'),
      );
      expect(reading.spans).toEqual([...spans, older]);
    },
  );

  test('a full page without a known next page counts, and the mark stays', async () => {
    const { asked, fetchPage } = fakeLog();
    const older = { newestAt: ago(95), oldestAt: ago(130), cursor: null };
    const cutOff: ReadLogOptions['fetchPage'] = async (cursor) => ({
      deliveries: (await fetchPage(cursor)).deliveries,
      isCutOff: true,
    });
    const reading = await read(cutOff, [older]);
    expect(asked).toEqual(['top']);
    expect(reading.attempts).toHaveLength(10);
    expect(reading.error).toEqual(new CutOffLogError());
    expect(reading.spans).toEqual([older]);
    // No call for entries below, once the page itself reaches far enough.
    const enough = await read(cutOff, [{ newestAt: ago(2), oldestAt: ago(130), cursor: null }], {
      windowMs: 5 * 60_000,
    });
    expect(enough.error).toBeUndefined();
    expect(enough.spans).toEqual([{ newestAt: ago(0), oldestAt: ago(130), cursor: null }]);
  });

  test('a gap is filled down to the entries that GitHub can still repeat, and the entries below are forgotten', async () => {
    const { asked, fetchPage } = fakeLog();
    const reading = await read(
      fetchPage,
      [
        { newestAt: ago(5), oldestAt: ago(29), cursor: '30' },
        { newestAt: ago(480), oldestAt: ago(490), cursor: null },
        { newestAt: ago(600), oldestAt: ago(700), cursor: null },
      ],
      { horizonMs: 60 * 60_000, maxPages: 6 },
    );
    expect(asked).toEqual(['top', '10', '30', '40', '50', '60']);
    expect(reading.spans).toEqual([
      { newestAt: ago(0), oldestAt: ago(69), cursor: null },
      { newestAt: ago(480), oldestAt: ago(490), cursor: null },
    ]);
  });

  test('every cycle looks at the whole window again, for entries that came late', async () => {
    const { asked, fetchPage } = fakeLog();
    await read(fetchPage, [{ newestAt: ago(1), oldestAt: ago(130), cursor: null }]);
    expect(asked).toEqual(['top', '10']);
  });
});
