import { canRun } from './assignment.ts';
import type { Job } from './job.ts';
import type { Runner } from './runner.ts';
import type { World } from './world.ts';

/** A runner registered but not yet connected counts as on its way for this long. */
const STARTING_MS = 60_000;

/**
 * Things alike in labels and scope: one of them stands for all, so that thousands cost no more than
 * a few.
 */
type Class<T> = { readonly example: T; count: number };

/** How many jobs of which class each class of runners serves. */
type Serving = Map<Class<Runner>, Map<Class<Job>, number>>;

/**
 * Tells, as things are now and whenever it is asked, whether `runner` is one too many: with it, no
 * more of the queued jobs can be served than by the runners that are idle, or on their way and do
 * come (`comes`), each job having a runner of its own (a maximum bipartite matching).
 */
export function coverageOf(
  world: World,
  runner: Runner,
): (comes: (runner: Runner) => boolean) => boolean {
  const jobs = classify([...world.queuedJobs.values()], jobKey);
  const others = [...world.runners.values()].filter((other) => other !== runner);
  const idle = others.filter(({ state }) => state === 'idle');
  const starting = others.filter(
    (other) => other.state === 'registered' && isStarting(world, other),
  );
  return (comes) => isCovered(runner, jobs, [...idle, ...starting.filter(comes)]);
}

function isCovered(
  runner: Runner,
  jobs: readonly Class<Job>[],
  others: readonly Runner[],
): boolean {
  const serving: Serving = new Map(
    classify(others, runnerKey).map((each) => [each, new Map<Class<Job>, number>()]),
  );
  const left = jobs.filter((job) => {
    for (let n = 0; n < job.count; n += 1) if (!serve(job, serving, new Set())) return true;
    return false;
  });
  serving.set({ example: runner, count: 1 }, new Map());
  return !left.some((job) => serve(job, serving, new Set()));
}

const jobKey = remembered(({ run, labels }: Job) =>
  JSON.stringify([run.repository.id, ...sorted(labels.map((label) => label.toLowerCase()))]),
);

const runnerKey = remembered(({ scope, group, lowerLabels }: Runner) =>
  JSON.stringify([
    scope.owner.id,
    scope.repository?.id ?? 0,
    group.id,
    ...sorted([...lowerLabels]),
  ]),
);

/** What makes a job or a runner like another never changes: it is worked out once. */
function remembered<T extends object>(key: (item: T) => string): (item: T) => string {
  const keys = new WeakMap<T, string>();
  return (item) => {
    const known = keys.get(item) ?? key(item);
    keys.set(item, known);
    return known;
  };
}

function sorted(labels: readonly string[]): string[] {
  return labels.toSorted((a, b) => a.localeCompare(b));
}

const isStarting = (world: World, { registeredAt }: Runner): boolean =>
  world.now() - registeredAt < STARTING_MS;

/** Whether a runner that was on its way has come, or may come still. */
export function mayCome(world: World, runner: Runner): boolean {
  return runner.configUsed || (world.runners.has(runner.id) && isStarting(world, runner));
}

function classify<T>(items: readonly T[], key: (item: T) => string): Class<T>[] {
  const classes = new Map<string, Class<T>>();
  for (const item of items) {
    const name = key(item);
    const found = classes.get(name);
    if (found === undefined) classes.set(name, { example: item, count: 1 });
    else found.count += 1;
  }
  return [...classes.values()];
}

/**
 * Finds a runner for one more job of this class, moving a job served before to another class of
 * runners where that helps.
 */
function serve(job: Class<Job>, serving: Serving, tried: Set<Class<Runner>>): boolean {
  for (const [runners, served] of serving) {
    if (tried.has(runners) || !canRun(runners.example, job.example)) continue;
    tried.add(runners);
    const used = [...served.values()].reduce((sum, n) => sum + n, 0);
    if (used >= runners.count) {
      const moved = [...served].find(([other, n]) => n > 0 && serve(other, serving, tried));
      if (moved === undefined) continue;
      served.set(moved[0], moved[1] - 1);
    }
    served.set(job, (served.get(job) ?? 0) + 1);
    return true;
  }
  return false;
}
