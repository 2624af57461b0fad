import { awayReason } from '../matching/stored-rules.ts';
import { WAIT_REASONS, type WaitReason } from '../matching/wait-reasons.ts';
import type { CapFacts, WaitFacts } from './wait-facts.ts';

/** Who can end the wait: time, the workflow's author, or the team that runs Paddock. */
export type Actor = 'wait' | 'author' | 'platform';

export interface Explanation {
  readonly sentence: string;
  readonly actor: Actor;
  readonly advice: string;
}

/** What a reason means, in words that may tell of the job. */
interface Words {
  readonly actor: Actor;
  readonly sentence: (facts: WaitFacts) => string;
  readonly advice: string | ((facts: WaitFacts) => string);
}

const actorIs =
  (actor: Actor) =>
  (sentence: Words['sentence'], advice: Words['advice']): Words => ({ actor, sentence, advice });
const wait = actorIs('wait');
const platform = actorIs('platform');

export const instant = (at: Date): string => at.toISOString().replace(/\.\d+/, '');

export const count = (number: number, one: string, many = `${one}s`): string =>
  `${number} ${number === 1 ? one : many}`;

/** What failed, since when, and when one worker tries again; empty if a success has ended it. */
function afterFailures({ failing, now }: WaitFacts): string {
  if (failing === null) return '';
  const { failures, since, pausedUntil, message } = failing;
  const again =
    pausedUntil === null
      ? 'one worker tries next'
      : pausedUntil > now
        ? `one worker tries again at ${instant(pausedUntil)}`
        : `one worker may try since ${instant(pausedUntil)}`;
  return ` (${count(failures, 'failure')} since ${instant(since)}, ${again}): ${withoutStop(message)}`;
}

/** GitHub's words, and when it is asked again. */
function afterRefusal({ told, now }: WaitFacts, reason: WaitReason): string {
  const refusal = told.find((one) => one.reason === reason);
  if (refusal === undefined) return '';
  const { until, message } = refusal;
  const again =
    until > now
      ? `Paddock asks again at ${instant(until)}`
      : `one worker may ask again since ${instant(until)}`;
  return ` (${again}): ${withoutStop(message)}`;
}

/** For a text in the middle of a sentence. */
export const withoutStop = (text: string): string => text.trim().replace(/\.$/, '');

/** Since when a service does not answer, and its last words. */
const away =
  (reason: WaitReason, name: string) =>
  ({ outages }: WaitFacts): string => {
    const found = outages.find(({ service }) => awayReason([service]) === reason);
    return found === undefined
      ? `${name} did not answer, and does again: the next pass goes on.`
      : `${name} has not answered since ${instant(found.since)}: ${withoutStop(found.message)}.`;
  };

const failing = (subject: (facts: WaitFacts) => string) => (facts: WaitFacts) =>
  `${subject(facts)}${afterFailures(facts)}.`;
const refused = (reason: WaitReason, subject: (facts: WaitFacts) => string) => (facts: WaitFacts) =>
  `${subject(facts)}${afterRefusal(facts, reason) || afterFailures(facts)}.`;

/** The numbers of a cap; a worker may have ended since the last pass. */
function full(kind: CapFacts['kind'], name: (facts: WaitFacts) => string) {
  return (facts: WaitFacts): string => {
    const cap = facts.caps.find((one) => one.kind === kind);
    if (cap === undefined) return `The last pass found no room under ${name(facts)}.`;
    const numbers = `${cap.name} is ${cap.limit}, and ${count(cap.used, 'worker is', 'workers are')} there`;
    return cap.used < cap.limit ? `${numbers}: the next pass gives out the rest.` : `${numbers}.`;
  };
}

function explainBudget(facts: WaitFacts): string {
  const { told, budget, job } = facts;
  const asked = told.find(({ reason }) => reason === 'github_budget');
  if (asked !== undefined)
    return `GitHub has asked Paddock to make no runners for ${job.login} until ${instant(asked.until)}: ${withoutStop(asked.message)}.`;
  if (budget !== null)
    return `GitHub allows ${count(budget.remaining, 'more registration')} of runners for ${job.login} until ${instant(budget.resetAt)}, and those on their way use them.`;
  return `The runners that were registered for ${job.login} in the last minute are as many as GitHub allows.`;
}

const describeSwitches = ({ switches, job }: WaitFacts): string =>
  switches
    .map(({ subject, by, since, note }) => {
      const ofPool = subject.startsWith('pool:') ? `the pool ${job.pool}` : job.login;
      const held = subject === 'environment' ? 'everything' : ofPool;
      const why = note === null ? '' : ` (“${withoutStop(note)}”)`;
      return `${by} stopped the making of workers for ${held} at ${instant(since)}${why}`;
    })
    .join('; ');

const lost =
  (how: string) =>
  ({ lostApp, job }: WaitFacts): string =>
    lostApp === null
      ? `No App that Paddock uses is installed on ${job.login}, and free to act there.`
      : `The App ${lostApp.app} is ${how} ${job.login} since ${instant(lostApp.at)}.`;

/** Whom the group's last reading admits. */
function admission({ group }: WaitFacts): string {
  if (group === null) return 'See whether the runner group admits the repository and the workflow.';
  const { name, visibility, workflows } = group;
  const only = workflows === null ? '' : `, and only of the workflows ${workflows.join(', ')}`;
  return `See whether the runner group ${name} admits the job: it takes jobs of ${visibility ?? 'all'} repositories${only}.`;
}

const scopeOf = ({ job }: WaitFacts): string =>
  job.scopeRepoId === 0 ? job.login : job.repoFullName;

const IMAGE = 'See whether the image is there and its registry answers; look at imagePullSecrets.';
const TEMPLATE = 'See whether the Secrets, ConfigMaps and commands of the template are there.';
const CAPACITY = 'Add nodes, or ask for less: look at requests, nodeSelector and tolerations.';
const QUOTA = 'Raise the quota of the namespace, or mend template, policies or Paddock’s rights.';
const NODE = 'Look at the node: its kubelet, its load, and whether spot nodes are taken away.';
const EVICTED = 'Request what jobs use, ephemeral-storage too; keep the autoscaler off busy pods.';
const MEMORY = 'Raise limits.memory of the pool, or have its jobs use less.';
const GITHUB = 'See whether runners reach GitHub: proxy, certificates, network policies.';
const LOG = 'Look at the end of the log of one of them.';
/** Where the failures may be several, or have no advice of their own. */
export const FAILING =
  'Look at the pool’s image, template and quota, or at what GitHub answered, and at the latest failed workers.';

/** By a reason of a failure or a stop: what follows `3 workers`, and what to do. */
const TROUBLES: Readonly<Record<string, readonly [said: string, advice: string]>> = {
  unschedulable: ['could not be scheduled', CAPACITY],
  pod_refused: ['could not be made', QUOTA],
  image_pull: ['could not pull an image', IMAGE],
  container_config: ['had a container that could not be made', TEMPLATE],
  crash_loop: ['had a container that ended again and again', LOG],
  slow_start: ['did not start, and nothing says why', NODE],
  pending_timeout: ['did not start in time', CAPACITY],
  terminating: ['did not go when deleted', NODE],
  evicted: ['met an eviction', EVICTED],
  node_lost: ['lost the node', NODE],
  node_refused: ['met a node that refused the pod', NODE],
  pod_gone: ['lost the pod', NODE],
  out_of_memory: ['ran out of memory', MEMORY],
  outdated_runner: ['had a runner that GitHub no longer serves', 'Give the pool a newer image.'],
  not_registered: ['did not come online at GitHub', GITHUB],
  offline: ['went offline at GitHub', GITHUB],
};

/** One for each reason: the sentence with its numbers, who can act, and how. */
const EXPLANATIONS: Readonly<Record<WaitReason, Words>> = {
  pool_unknown: platform(
    ({ job }) => `The pool ${job.pool} is no longer in the configuration.`,
    'Put the pool back into the configuration file, or cancel the job.',
  ),
  no_pool_fits: platform(
    ({ nearest }) =>
      nearest === null || nearest.missing.length === 0
        ? 'A change of the configuration left the job without a pool that serves it.'
        : `No pool serves the job now: the nearest, ${nearest.pool}, lacks ${labels(nearest.missing)}.`,
    'Give a pool the job’s labels again, let it serve the job’s entity and repository, or cancel the job.',
  ),
  pool_closed: platform(
    (facts) => `The pool ${facts.job.pool} no longer serves ${scopeOf(facts)}.`,
    'Add the entity or the repository to `entities` or `repositories` of the pool, or cancel the job.',
  ),
  runner_group_open: platform(
    ({ job, group }) =>
      group === null || group.excess === null
        ? `The runner group of the pool ${job.pool} let in more than the pool serves.`
        : `${withoutStop(group.excess)}, and the pool ${job.pool} does not serve that.`,
    'Close the runner group at GitHub, or let the pool serve what the group lets in.',
  ),
  pool_paused: platform(
    ({ job }) => `The configuration has paused the pool ${job.pool}.`,
    'Take `paused` out of the pool’s configuration.',
  ),
  entity_not_allowed: platform(
    ({ job }) => `${job.login} is not among the configured entities.`,
    'Add it to `entities` of the configuration file; if its login is there, another entity had that login first.',
  ),
  making_stopped: platform(
    (facts) =>
      facts.switches.length === 0
        ? 'A person had stopped the making of workers, and the next pass goes on.'
        : `${describeSwitches(facts)}.`,
    ({ switches }) =>
      switches.length === 0
        ? 'Nothing.'
        : `Ask ${[...new Set(switches.map(({ by }) => by))].join(' and ')}, then resume the making of workers.`,
  ),
  github_unavailable: wait(
    away('github_unavailable', 'GitHub'),
    'Nothing: Paddock asks GitHub once a second, and goes on as soon as it answers.',
  ),
  cluster_unavailable: platform(
    away('cluster_unavailable', 'The cluster'),
    'See whether the cluster’s API server answers; Paddock asks it once a second, and goes on as soon as it does.',
  ),
  installation_refused: platform(
    refused(
      'installation_refused',
      (facts) => `GitHub refuses what the App asks for ${scopeOf(facts)}`,
    ),
    'Look at the App’s key and permissions, which `paddock doctor` checks, and at the runner group.',
  ),
  installation_suspended: platform(
    lost('suspended on'),
    'Lift the suspension of the App in the entity’s settings at GitHub.',
  ),
  app_not_configured: platform(
    ({ job }) => `No App of the configuration file is installed on ${job.login}.`,
    'Install such an App there, or add the App that is installed to the configuration file.',
  ),
  installation_gone: platform(
    lost('no longer installed on'),
    'Install the App on the entity again.',
  ),
  repository_gone: platform(
    refused(
      'repository_gone',
      ({ job }) => `GitHub does not show the repository ${job.repoFullName} to the App`,
    ),
    'Let the App see the repository again, or cancel the job if the repository is gone.',
  ),
  repository_refused: platform(
    refused(
      'repository_refused',
      ({ job }) => `GitHub refuses to register runners at ${job.repoFullName}`,
    ),
    'See whether the repository allows self-hosted runners, and whether it is archived.',
  ),
  workers_failing: platform(
    failing(
      (facts) =>
        `Workers for ${scopeOf(facts)} in the pool ${facts.job.pool} fail before they have a job`,
    ),
    ({ failing: failed }) => TROUBLES[failed?.reason ?? '']?.[1] ?? FAILING,
  ),
  pool_suspected: wait(
    ({ job }) =>
      `Workers of two other entities fail in the pool ${job.pool}: one worker for ${job.login} starts first, and the rest follow once it runs.`,
    'Nothing: the next pass goes on as soon as the first worker runs.',
  ),
  runner_outdated: platform(
    failing(({ job }) => `GitHub no longer serves the runner version of the pool ${job.pool}`),
    'Give the pool a newer runner image.',
  ),
  github_budget: wait(
    explainBudget,
    'Nothing: it goes on by itself. If it comes often, spread the jobs over more organisations.',
  ),
  at_entity_cap: wait(
    full('at_entity_cap', ({ job }) => `maxWorkers of ${job.login}`),
    ({ job }) =>
      `Wait until workers end, or ask the platform team for a higher maxWorkers of ${job.login}.`,
  ),
  at_common_cap: wait(
    full('at_common_cap', () => "commonMaxWorkers of '*'"),
    ({ job }) =>
      `Wait until workers end, or ask the platform team for a higher commonMaxWorkers, or an entry for ${job.login}.`,
  ),
  no_capacity: platform(
    ({ job, withoutNode }) =>
      `No node takes ${count(withoutNode, 'worker')} for ${job.login} in the pool ${job.pool}; more follow when these find nodes or end.`,
    'Add nodes, or look at the pool’s requests and tolerations: the conditions of its pending pods say what is short.',
  ),
  at_pool_cap: wait(
    full('at_pool_cap', ({ job }) => `maxWorkers of the pool ${job.pool}`),
    ({ job }) =>
      `Wait until workers end, or ask the platform team for a higher maxWorkers of the pool ${job.pool}.`,
  ),
  github_does_not_assign: platform(
    failing(
      (facts) =>
        `GitHub gives idle runners of the pool ${facts.job.pool} at ${scopeOf(facts)} no job`,
    ),
    admission,
  ),
  at_repository_cap: wait(
    full('at_repository_cap', ({ job }) => `maxWorkersPerRepository of the pool ${job.pool}`),
    'Wait until workers end, or ask the platform team for a higher maxWorkersPerRepository.',
  ),
  unexplained_ends: wait(
    ({ unexplained }) =>
      unexplained === 0
        ? 'Workers of this kind end without a known job: GitHub is asked which jobs still wait.'
        : `${count(unexplained, 'runner')} that may have run the job ended without a known one: GitHub is asked which jobs still wait.`,
    'Nothing: GitHub is asked, or late deliveries arrive. If it comes often, see whether deliveries are lost.',
  ),
};

const isKnown = (reason: string): reason is WaitReason => Object.hasOwn(WAIT_REASONS, reason);

export function explainReason(reason: string, facts: WaitFacts): Explanation {
  // A scheduler of a newer version may store a reason that this version does not know.
  if (!isKnown(reason))
    return {
      actor: 'platform',
      sentence: `The scheduler gives the reason ${reason}, which this version cannot explain.`,
      advice: 'Ask the newest version.',
    };
  const { actor, sentence, advice } = EXPLANATIONS[reason];
  const told = typeof advice === 'string' ? advice : advice(facts);
  return { actor, sentence: sentence(facts), advice: told };
}

export const actorOn = (reason: string): Actor =>
  isKnown(reason) ? EXPLANATIONS[reason].actor : 'platform';

/** What this actor can do, if that is the same for all jobs. */
export function adviceOn(reason: string): string | undefined {
  const advice = isKnown(reason) ? EXPLANATIONS[reason].advice : undefined;
  return typeof advice === 'string' ? advice : undefined;
}

/** As `the labels gpu, large`. */
export const labels = (missing: readonly string[]): string =>
  `the ${missing.length === 1 ? 'label' : 'labels'} ${missing.join(', ')}`;

/** What went wrong with workers: how many, by one reason, with the words about it. */
interface WorkerTrouble {
  /** A reason of a failure or a stop, why a pod does not start, or `pod_refused`. */
  readonly reason: string;
  readonly message: string | null;
  readonly workers: number;
}

export function tellTrouble({ reason, message, workers }: WorkerTrouble) {
  const [said, advice] = TROUBLES[reason] ?? [`failed (${reason.replaceAll('_', ' ')})`, LOG];
  const words = message === null ? '' : `: ${withoutStop(message)}`;
  // A worker whose pod is refused tries again.
  const who = count(workers, reason === 'pod_refused' ? 'pod' : 'worker');
  return { sentence: `${who} ${said}${words}.`, advice };
}
