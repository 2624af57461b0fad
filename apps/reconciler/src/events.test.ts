import { expect, jest, test } from '@jest/globals';
import { createMetrics } from '@paddock/runtime/metrics';
import { metricSum } from '@paddock/testing/metric-sum';
import { SILENT_LOG } from '@paddock/testing/stand-ins';
import { createEvents, type ReconcilerEvents } from './events.ts';

const away = { kind: 'network', message: 'no answer' } as const;

const noted = (verdict: object) => [{ jobId: 1, verdict } as never];

/** Each event as a sweep reports it; the tests of the sweeps check that they do. */
test.each<[string, string, object, (events: ReconcilerEvents) => void]>([
  ['tickTaken', 'debug', { missed: 0 }, (events) => events.tickTaken('mow', new Date(), 0)],
  ['ticksMissed', 'warn', { missed: 4 }, (events) => events.tickTaken('mow', new Date(), 4)],
  [
    'jobRequeued',
    'warn',
    { jobId: 1 },
    (events) => events.jobsLookedUp(noted({ kind: 'requeued' })),
  ],
  [
    'jobFailed',
    'warn',
    { jobId: 1, reason: 'gone' },
    (events) => events.jobsLookedUp(noted({ kind: 'failed', message: 'gone' })),
  ],
  [
    'jobLookedUp',
    'debug',
    { verdict: 'stated' },
    (events) => events.jobsLookedUp(noted({ kind: 'stated' })),
  ],
  ['podNotDeleted', 'debug', { failure: away }, (events) => events.podNotDeleted('pdk-1', away)],
])(
  '%s is one line at the level %s, and is counted (H1, H5)',
  async (event, level, fields, tell) => {
    const metrics = createMetrics();
    const said = jest.fn();
    const log = { ...SILENT_LOG, [level]: said };
    tell(
      createEvents({
        log,
        metrics,
        lateAfterSeconds: 60,
        findHeld: () => Promise.resolve(new Set<number>()),
      }),
    );
    expect(said.mock.calls).toEqual([[expect.any(String), expect.objectContaining(fields)]]);
    const page = await metrics.registry.metrics();
    expect(metricSum(page, `paddock_events_total{event="${event}"}`)).toBe(1);
    expect(metricSum(page, 'paddock_events_total')).toBe(1);
  },
);
