import { describe, expect, test } from '@jest/globals';
import { createMetrics, type Sample } from './metrics.ts';

const GAUGES = {
  paddock_test_waiting: { help: 'Jobs that wait', labels: ['pool'] },
  paddock_test_lacking: { help: 'Workers that are lacking' },
};

type Reading = readonly Sample<keyof typeof GAUGES>[];

const BOTH: Reading = [
  { gauge: 'paddock_test_waiting', labels: { pool: 'linux' }, value: 3 },
  { gauge: 'paddock_test_lacking', labels: {}, value: 2 },
];

/** The metrics of a service, and its log. */
function start(read: () => Promise<Reading>) {
  const said: string[] = [];
  const note = (message: string) => void said.push(message);
  const metrics = createMetrics({ warn: note, info: note });
  metrics.readings(GAUGES, read);
  const scrape = async () =>
    (await metrics.registry.metrics())
      .split('\n')
      .filter((line) => line.startsWith('paddock_test'));
  return { metrics, said, scrape };
}

describe('gauges read together', () => {
  test('one scrape reads them once, and shows the values of that reading (H5)', async () => {
    let reads = 0;
    const { scrape } = start(() => Promise.resolve(reads++ === 0 ? BOTH : []));
    expect(await scrape()).toEqual([
      'paddock_test_waiting{pool="linux"} 3',
      'paddock_test_lacking 2',
    ]);
    expect(reads).toBe(1);
  });

  test('while they cannot be read they are absent, other metrics are not, and the log says it once (H5)', async () => {
    const answers: (() => Promise<Reading>)[] = [
      () => Promise.reject(new Error('PostgreSQL is away')),
      () => Promise.reject(new Error('still')),
    ];
    const { metrics, said, scrape } = start(() =>
      (answers.shift() ?? (() => Promise.resolve(BOTH)))(),
    );
    metrics.counter('paddock_test_total', 'Events').inc();
    expect(await scrape()).toEqual(['paddock_test_total 1']);
    expect(await scrape()).toEqual(['paddock_test_total 1']);
    expect(await scrape()).toHaveLength(3);
    expect(said).toEqual([
      'gauges cannot be read: they are absent from the metrics',
      'gauges can be read again',
    ]);
  });

  test('a reading that hangs does not hold up a scrape, and no second reading begins meanwhile (H5)', async () => {
    const hanging = Promise.withResolvers<Reading>();
    let reads = 0;
    const { said, scrape } = start(() => {
      reads++;
      return hanging.promise;
    });
    expect(await Promise.all([scrape(), scrape()])).toEqual([[], []]);
    expect(said).toHaveLength(1);
    hanging.resolve(BOTH);
    expect(await scrape()).toHaveLength(2);
    expect(reads).toBe(1);
  });
});
