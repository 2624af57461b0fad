import { poolsDocument } from '@paddock/domain/pools/pools-document';
import { fc } from './random-cases.ts';
import type { JsonObject } from './signed-delivery.ts';
import type { DeliveryToRecord } from '@paddock/db/deliveries/record-deliveries';
import { ofJob } from './deliveries-to-record.ts';

const POOL = {
  name: 'small',
  labels: ['self-hosted', 'linux'],
  image: 'runner:1',
  namespace: 'runners',
};
export const pools = {
  version: 1,
  document: poolsDocument.parse({ pools: [POOL], entities: { '*': {} } }),
};

interface Start {
  readonly second: number;
  readonly runner: string;
  readonly runnerId: number;
  readonly ours: boolean;
}

/**
 * A job's whole story. Any of its deliveries may be lost. All of them contain the same facts
 * about the job.
 */
interface Life {
  readonly jobId: number;
  readonly runAttempt: number;
  readonly fits: boolean;
  readonly waits: boolean;
  /**
   * GitHub gives a job to a second runner when the first was lost; `ours` has a row in `workers`.
   */
  readonly starts: readonly Start[];
  /** GitHub's word on the end, now and then twice and not the same. */
  readonly ends: readonly { readonly second: number; readonly conclusion: string }[];
  readonly apps: readonly number[];
}

const start = fc.record({ second: fc.integer({ min: 0, max: 2 }), ours: fc.boolean() });
const end = fc.record({
  second: fc.integer({ min: 10, max: 12 }),
  conclusion: fc.constantFrom('success', 'failure', 'cancelled', 'skipped'),
});

function life(index: number): fc.Arbitrary<Life> {
  const jobId = 900 + index;
  const named = ({ second, ours }: { second: number; ours: boolean }, nth: number): Start => ({
    second,
    ours,
    runner: ours ? `pdk-aaaaaa-small-${jobId}-${nth}` : `elsewhere ${index}-${nth}`,
    runnerId: 10 * index + nth,
  });
  return fc.record({
    jobId: fc.constant(jobId),
    // A re-run is another job, with another id.
    runAttempt: fc.constant(1 + index),
    fits: fc.boolean(),
    waits: fc.boolean(),
    starts: fc
      .array(start, { maxLength: 2 })
      .map((starts) => starts.toSorted((a, b) => a.second - b.second).map(named)),
    ends: fc.array(end, { maxLength: 2 }),
    apps: fc.constantFrom([41], [42, 41]),
  });
}

export interface Deliveries {
  readonly lives: readonly Life[];
  /** Each that was not lost, once. */
  readonly received: readonly DeliveryToRecord[];
  /** The same in the order of their arrival, some more than once. */
  readonly arrived: readonly DeliveryToRecord[];
  /** After which of them a transaction ends. */
  readonly cuts: readonly boolean[];
}

/** Deliveries of up to `most` jobs, some of them lost, some doubled, in any order. */
export function deliveriesOfJobs(most: number): fc.Arbitrary<Deliveries> {
  const lives = fc
    .integer({ min: 1, max: most })
    .chain((count) => fc.tuple(...Array.from({ length: count }, (_, index) => life(index))));
  return lives
    .chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all.flatMap(deliveriesOf), { minLength: 1 })),
    )
    .chain(([all, received]) => {
      const twice = [...received, ...received];
      const doubled = fc
        .subarray(received)
        .chain((more) =>
          fc.shuffledSubarray([...received, ...more], { minLength: received.length + more.length }),
        );
      const cuts = fc.array(fc.boolean(), { minLength: twice.length, maxLength: twice.length });
      return fc
        .tuple(doubled, cuts)
        .map(([arrived, cutsAfter]) => ({ lives: all, received, arrived, cuts: cutsAfter }));
    });
}

function deliveriesOf(all: Life): DeliveryToRecord[] {
  const { starts, ends, apps, waits } = all;
  const last = starts.at(-1);
  return apps.flatMap((appId) =>
    [
      delivery(all, appId, 'queued', {}),
      waits ? [delivery(all, appId, 'waiting', {})] : [],
      starts.map((given) => delivery(all, appId, 'in_progress', run(given, given.second))),
      ends.map(({ second, conclusion }) =>
        delivery(
          all,
          appId,
          'completed',
          Object.assign(run(last, last?.second ?? 9), {
            completed_at: instant(second),
            conclusion,
          }),
        ),
      ),
    ].flat(),
  );
}

const run = (given: Start | undefined, second: number) => ({
  started_at: instant(second),
  runner_name: given?.runner ?? null,
  runner_id: given?.runnerId ?? null,
});
/**
 * Lives begin an hour ago: a job that was queued days ago would be no demand before GitHub was
 * asked.
 */
const BEGIN = Date.now() - 3_600_000;
const instant = (second: number) => new Date(BEGIN + 1_000 * second).toISOString();

const delivery = (
  { jobId, runAttempt, fits }: Life,
  app: number,
  action: Parameters<typeof ofJob>[0],
  job: JsonObject,
): DeliveryToRecord =>
  ofJob(action, jobId, {
    app,
    installation: 1000 + app,
    labels: [fits ? 'linux' : 'windows'],
    job: {
      run_id: 80,
      run_attempt: runAttempt,
      name: 'build',
      workflow_name: 'CI',
      created_at: instant(0),
      html_url: `https://github.com/acme/api/${jobId}`,
      runner_name: null,
      ...job,
    },
  });
