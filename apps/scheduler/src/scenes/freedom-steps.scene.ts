import { fc } from '@paddock/testing/random-cases';
import { type EntityKey, ENTITIES, ENDLESS_MS, type Freedom, LABELS } from './freedom.scene.ts';

type Step = {
  readonly name: string;
  readonly take: (world: Freedom) => Promise<unknown>;
  toString(): string;
};

const step = <T>(
  name: string,
  values: fc.Arbitrary<T>,
  take: (world: Freedom, value: T) => Promise<unknown>,
): fc.Arbitrary<Step> =>
  values.map((value) => ({
    name,
    take: (world) => take(world, value),
    toString: () => `${name} ${JSON.stringify(value)}`,
  }));

const entity = fc.constantFrom<EntityKey>(...ENTITIES);
export const jobs = async ({ world }: Freedom) => (await world.gitHub.truth()).jobs;
const pick = <T>(of: readonly T[], nth: number): T | undefined => of[nth % Math.max(of.length, 1)];

const queued = step(
  'queue',
  fc.tuple(
    entity,
    fc.nat(1),
    fc.constantFrom(...LABELS),
    fc.constantFrom(1, 50, 300, ENDLESS_MS),
    fc.integer({ min: 1, max: 3 }),
  ),
  async (world, [owner, nth, labels, durationMs, count]) => {
    for (let n = 0; n < count; n += 1) await world.queue(owner, nth, labels, durationMs);
  },
);

export const steps = fc.oneof(
  { arbitrary: queued, weight: 10 },
  {
    arbitrary: step('cancel', fc.nat(100), async (world, nth) => {
      const job = pick(
        (await jobs(world)).filter(({ status }) => status !== 'completed'),
        nth,
      );
      if (job !== undefined) await world.cancel(job.id);
    }),
    weight: 3,
  },
  {
    arbitrary: step('rerun', fc.nat(100), async (world, nth) => {
      const job = pick(
        (await jobs(world)).filter(({ status }) => status === 'completed'),
        nth,
      );
      if (job !== undefined) await world.rerun(job.id);
    }),
    weight: 2,
  },
  {
    arbitrary: step(
      'deliveries',
      fc.constantFrom(
        {},
        { dropActions: ['in_progress'] },
        { dropActions: ['completed'] },
        { dropActions: ['in_progress', 'completed'] },
        { dropActions: ['queued'] },
        { lossRate: 0.5 },
        { delayMs: [0, 60] as const, duplicateRate: 0.5 },
      ),
      (world, faults) => world.world.gitHub.setDeliveryFaults(faults),
    ),
    weight: 4,
  },
  {
    arbitrary: step(
      'busy runners look idle, and no delivery says that they work',
      fc.boolean(),
      async ({ world: { gitHub } }, busyLies) => {
        await gitHub.setRunnerFaults({ busyLies });
        await gitHub.setDeliveryFaults(busyLies ? { dropActions: ['in_progress'] } : {});
      },
    ),
    weight: 3,
  },
  {
    arbitrary: step('stop a worker', fc.nat(100), async (world, nth) => {
      await world.askToStop(nth);
      await world.world.runTasks();
      await world.letTimePass();
      await world.endPauses();
    }),
    weight: 5,
  },
  {
    arbitrary: step(
      'see repositories',
      fc.tuple(entity, fc.constantFrom<0 | 1 | 'all'>(0, 1, 'all')),
      (world, [owner, which]) => world.select(owner, which),
    ),
    weight: 2,
  },
  {
    arbitrary: step('end the grace of unexplained ends', fc.constant(0), (world) =>
      world.endGrace(),
    ),
    weight: 1,
  },
  { arbitrary: step('uninstall', entity, (world, owner) => world.uninstall(owner)), weight: 1 },
  { arbitrary: step('install', entity, (world, owner) => world.install(owner)), weight: 2 },
  { arbitrary: step('rename', entity, (world, owner) => world.rename(owner)), weight: 1 },
  {
    arbitrary: step(
      'configure',
      fc.constantFrom('all' as const, 'some' as const),
      (world, document) => world.configure(document),
    ),
    weight: 2,
  },
);
