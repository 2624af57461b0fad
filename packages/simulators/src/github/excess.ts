import { canRun } from './assignment.ts';
import type { Job, Runner, World } from './world.ts';

/** A registered runner that has not connected counts as coming for this long. */
const STARTING_MS = 60_000;

/**
 * Jobs or runners with the same labels and scope form one class, so that thousands cost no more
 * than a few.
 */
type Class<T> = { readonly example: T; count: number };

/** How many jobs of each class every class of runners serves. */
type Serving = Map<Class<Runner>, Map<Class<Job>, number>>;

/**
 * Returns a function that says, at any later time, whether `runner` is unnecessary. It is, if the
 * queued jobs that can be served without it are as many as with it. The others that count are idle,
 * or registered and still coming (`comes`). Each job needs one runner (a maximum bipartite
 * matching).
 */
export function coverageOf(
  world: World,
  runner: Runner,
): (comes: (runner: Runner) => boolean) => boolean {
  const { owner } = runner.scope;
  const queued = [...world.queuedJobs.values()];
  const jobs = classify(
    queued.filter(({ run }) => run.repository.owner === owner),
    jobKey,
  );
  const others = [...world.runners.values()].filter(
    (other) => other !== runner && other.scope.owner === owner,
  );
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

const jobKey = remembered(({ run, labels, group = '' }: Job) =>
  JSON.stringify([run.repository.id, group, ...sorted(labels.map((label) => label.toLowerCase()))]),
);

const runnerKey = remembered(({ scope, group, lowerLabels }: Runner) =>
  JSON.stringify([
    scope.owner.id,
    scope.repository?.id ?? 0,
    group.id,
    ...sorted([...lowerLabels]),
  ]),
);

/** Jobs' and runners' labels and scopes never change, so a class is computed once. */
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

/** Whether a runner that had not connected yet has come, or may still come. */
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
 * Finds a runner for one more job of this class. If that helps, it moves a served job to another
 * class of runners.
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
