import {
  count,
  type Explanation,
  explainReason,
  instant,
  withoutStop,
} from './reason-explanations.ts';
import type { CapFacts, EarlierReason, LastStarts, PlaceFacts, WaitFacts } from './wait-facts.ts';
import { type WorkerOnItsWay, workersOnTheirWay } from './worker-progress.ts';

export interface WaitAnswer extends Omit<Explanation, 'actor'> {
  /** `in_doubt`: GitHub is asked whether it still waits. `held`: GitHub holds it back. */
  readonly state: 'waiting' | 'in_doubt' | 'held' | 'not_served' | 'running' | 'ended';
  /** The word for it, in `demand_keys` or as the outcome of its delivery; null: there is none. */
  readonly reason: string | null;
  /** Since when this is so, as far as it is known. */
  readonly since: Date | null;
  /** Who can act; null: the job waits no longer, and nothing of ours failed. */
  readonly actor: Explanation['actor'] | null;
  readonly place: PlaceFacts | null;
  /** How long jobs of its key waited that started before it; null: it waits for no worker, or none did. */
  readonly lastStarts: LastStarts | null;
  /** Of the job's key, the readiest first. */
  readonly workers: readonly WorkerOnItsWay[];
  readonly caps: readonly Omit<CapFacts, 'kind'>[];
  /** Reasons of its key that ended while it waited, the latest first. */
  readonly earlier: readonly EarlierReason[];
}

/** After this long without a pass that saw the job, something is wrong with the schedulers. */
const LONGEST_UNSEEN_MS = 60_000;

/** Reasons that keep workers from being made, and leave alone those that are there. */
const LIMITS: ReadonlySet<string | null> = new Set([
  'at_entity_cap',
  'at_common_cap',
  'at_pool_cap',
  'at_repository_cap',
  'github_budget',
]);

export function explainWait(stored: WaitFacts): WaitAnswer {
  const facts = withJoinedReasons(stored);
  const { job, now, earlier } = facts;
  const nothing = { reason: null, place: null, lastStarts: null, workers: [], caps: [], earlier };
  if (job.wantsWorker) {
    const workers = workersOnTheirWay(facts.workers, now);
    const { place, lastStarts } = facts;
    const caps = facts.caps.map(({ name, used, limit }) => ({ name, used, limit }));
    const explained = explainWaiting(facts, workers);
    return { state: 'waiting', ...explained, place, lastStarts, workers, caps, earlier };
  }
  switch (job.status) {
    case 'pending':
      if (job.hiddenSince !== null)
        return {
          ...nothing,
          state: 'held',
          reason: 'repository_hidden',
          since: job.hiddenSince,
          actor: 'platform',
          sentence: `GitHub has not shown the repository ${job.repoFullName} to the App since ${instant(job.hiddenSince)}: it was deleted, has moved to an entity without the App, or is not selected for it.`,
          advice: `Select the repository in the App’s installation on ${job.login}; the job then waits for a worker again. It fails two days after GitHub hid the repository.`,
        };
      return {
        ...nothing,
        state: 'in_doubt',
        since: job.knownSince,
        actor: 'wait',
        sentence:
          'What is known of the job is old or contradicts itself: GitHub is asked whether it is still queued.',
        advice: 'Nothing: if GitHub calls it queued, it gets a worker.',
      };
    case 'running':
      return {
        ...nothing,
        state: 'running',
        since: job.startedAt,
        actor: null,
        sentence: `It runs${onRunner(job)}${job.startedAt === null ? '' : ` since ${instant(job.startedAt)}`}.`,
        advice: 'Nothing.',
      };
    case 'completed':
    case 'failed':
      return {
        ...nothing,
        state: 'ended',
        since: job.completedAt,
        ...explainEnd(job),
      };
    default:
      return job.status satisfies never;
  }
}

const MOST_EARLIER = 20;

/** A job has waited for a reason no longer than it is known, nor after it started or ended. */
function withinLife({ job, now }: WaitFacts, { reason, since, until }: EarlierReason) {
  const end = job.wantsWorker ? now : (job.startedAt ?? job.completedAt ?? now);
  const cut = (at: Date) =>
    new Date(Math.max(Number(job.knownSince), Math.min(Number(at), Number(end))));
  return { reason, since: cut(since), until: cut(until) };
}

/** A reason holds since it first came, though it was gone for a moment. */
function withJoinedReasons(facts: WaitFacts): WaitFacts {
  const { key, now } = facts;
  const isHeld = key !== null && key.waitReason !== null && key.waitSince !== null;
  const held = isHeld ? [{ reason: key.waitReason, since: key.waitSince, until: now }] : [];
  const joined = joinReasons([...held, ...facts.earlier]).map((span) => withinLife(facts, span));
  return {
    ...facts,
    key: key && { ...key, waitSince: isHeld ? (joined[0]?.since ?? null) : key.waitSince },
    earlier: joined
      .slice(held.length, held.length + MOST_EARLIER)
      .filter(({ since, until }) => until > since),
  };
}

/** One worker of a paused pool tries, or a place is free for a moment: the reason goes and comes. */
const SHORT_MS = 60_000;

/**
 * Joins a reason with the same one before it, if it was gone for a moment only and none other held
 * meanwhile. Spans come and go the latest first.
 */
export function joinReasons(spans: readonly EarlierReason[]): EarlierReason[] {
  const joined: EarlierReason[] = [];
  for (const span of spans) {
    const later = joined.at(-1);
    const isSame =
      later?.reason === span.reason && later.since.getTime() - span.until.getTime() <= SHORT_MS;
    if (isSame) joined[joined.length - 1] = { ...later, since: span.since };
    else joined.push(span);
  }
  return joined;
}

export function onRunner({
  podName,
  runnerName,
}: Pick<WaitFacts['job'], 'podName' | 'runnerName'>) {
  if (podName !== null) return ` on our worker ${podName}`;
  return runnerName === null ? '' : ` on ${runnerName}, a runner of others,`;
}

/** GitHub does not say that a runner was lost under its job: the worker's end does. */
function explainEnd(job: WaitFacts['job']): Pick<WaitAnswer, 'actor' | 'sentence' | 'advice'> {
  const { completedAt, conclusion, podName, workerFailure } = job;
  const at = completedAt === null ? '' : ` at ${instant(completedAt)}`;
  const sentence = `It ended${at}${resultOf(job)}.`;
  if (workerFailure === null || conclusion === 'success')
    return { actor: null, sentence, advice: 'Nothing.' };
  return {
    actor: 'platform',
    sentence: `${sentence} Its worker ${podName} failed: ${withoutStop(workerFailure)}.`,
    advice: `Look at the worker ${podName}: its diagnosis has the pod’s events and the end of its log.`,
  };
}

const laterOf = (a: Date, b: Date): Date => (a > b ? a : b);

const resultOf = ({ conclusion, failure }: WaitFacts['job']): string =>
  (conclusion === null ? '' : ` with the conclusion ${conclusion}`) +
  (failure === null ? '' : `: ${failure}`);

type Waiting = Pick<WaitAnswer, 'reason' | 'since' | 'sentence' | 'actor' | 'advice'>;

function explainWaiting(facts: WaitFacts, workers: readonly WorkerOnItsWay[]): Waiting {
  const { key, place } = facts;
  const coming = workers.filter(({ state }) => state !== 'stopping');
  const reason = key?.waitReason ?? null;
  // GitHub gives the oldest job the first runner that is ready, as a rule.
  const own = place === null ? undefined : coming[place.position - 1];
  const leavesAlone = reason === null || LIMITS.has(reason);
  const [firstSwitch] = facts.switches;
  if (firstSwitch !== undefined) return explainSwitches(facts, firstSwitch.since, coming);
  if (leavesAlone && facts.group?.lacksRepository === true)
    return explainGroup(facts, facts.group.name);
  if (reason === null || (leavesAlone && own !== undefined))
    return { reason: null, ...explainSupply(facts, own) };
  return explainHeldBack(reason, facts, coming);
}

function explainSwitches(
  facts: WaitFacts,
  stoppedAt: Date,
  coming: readonly WorkerOnItsWay[],
): Waiting {
  const reason = 'making_stopped';
  const { sentence, ...explained } = explainReason(reason, facts);
  const registered = coming.filter(({ state }) => state !== 'reserved').length;
  const others =
    registered === 0 ? '' : ` ${count(registered, 'worker')} made before may still run it.`;
  const since = laterOf(stoppedAt, facts.job.knownSince);
  return { ...explained, reason, since, sentence: sentence + others };
}

function explainGroup({ key, job }: WaitFacts, name: string): Waiting {
  return {
    reason: key?.waitReason ?? null,
    since: key?.waitSince ?? job.queuedAt ?? job.knownSince,
    actor: 'platform',
    sentence: `The runner group ${name} of ${job.login} does not admit the repository ${job.repoFullName}: GitHub gives no runner there a job of it.`,
    advice: `Select the repository in the runner group ${name} at GitHub.`,
  };
}

/** What the last pass says, and which workers keep the places that this job waits for. */
function explainHeldBack(
  reason: string,
  facts: WaitFacts,
  coming: readonly WorkerOnItsWay[],
): Waiting {
  const since = facts.key?.waitSince ?? null;
  const explained = { reason, since, ...explainReason(reason, facts) };
  const held = facts.caps.find(({ kind }) => kind === reason)?.held ?? [];
  const [longest] = held;
  if (longest !== undefined)
    return {
      ...explained,
      actor: 'platform',
      sentence: `${explained.sentence} ${count(held.length, 'of them does', 'of them do')} not go: ${longest.name} since ${instant(longest.since)}, because ${withoutStop(longest.heldBy)}.`,
      advice: `Look at the worker ${longest.name}: its pod, its node and its log.`,
    };
  const failing = coming.filter(({ state }) => state === 'stuck' || state === 'no_node');
  const [example] = failing;
  if (!LIMITS.has(reason) || example === undefined) return explained;
  return {
    ...explained,
    actor: 'platform',
    sentence: `${explained.sentence} ${count(failing.length, 'of its workers does', 'of its workers do')} not start: ${example.name}, ${example.detail}.`,
    advice: `Find out why ${example.name} does not start.`,
  };
}

/** Nothing keeps workers from being made: `own` is the one that the job may expect, if it is there. */
function explainSupply(
  { now, job, key }: WaitFacts,
  own: WorkerOnItsWay | undefined,
): Omit<Waiting, 'reason'> {
  if (own === undefined) {
    const unseenMs = now.getTime() - job.changedAt.getTime();
    return key === null && unseenMs > LONGEST_UNSEEN_MS
      ? {
          since: job.changedAt,
          actor: 'platform',
          sentence: `No scheduler has seen for ${Math.round(unseenMs / 1_000)} s that the job waits.`,
          advice: 'See whether the schedulers run, and what they log.',
        }
      : {
          since: job.queuedAt ?? job.knownSince,
          actor: 'wait',
          sentence: 'The scheduler makes its worker with one of its next passes.',
          advice: 'Nothing.',
        };
  }
  const since = new Date(now.getTime() - own.ageMs);
  const sentence = `Its worker ${own.name} is on its way: ${own.detail}.`;
  switch (own.state) {
    case 'stuck':
      return {
        since,
        actor: 'platform',
        sentence: `Its worker ${own.name} is stuck: ${own.detail}.`,
        advice: 'Look at the pool’s image and template, and at the pod.',
      };
    case 'no_node':
      return {
        since,
        actor: 'platform',
        sentence,
        advice: 'Add nodes, or look at the pool’s requests and tolerations.',
      };
    case 'ready':
      return {
        since,
        actor: 'wait',
        sentence: `The worker ${own.name} is ready for it: GitHub has given it no job yet, or its delivery is on its way.`,
        advice:
          'Nothing: if GitHub gives it no job, Paddock asks GitHub about the job and replaces the worker.',
      };
    case 'offline':
      return {
        since,
        actor: 'wait',
        sentence: `Its worker ${own.name} cannot take it: ${own.detail}.`,
        advice: 'Nothing: Paddock stops a runner that stays offline, and makes another.',
      };
    case 'starting':
    case 'registered':
    case 'registering':
    case 'reserved':
    case 'stopping':
      return { since, actor: 'wait', sentence, advice: 'Nothing.' };
    default:
      return own.state satisfies never;
  }
}
