import type { JobStatement } from '../deliveries/workflow-job-event.ts';
import { serves } from '../pools/gate.ts';
import { type IgnoredJob, placeJob } from '../pools/place-job.ts';
import { poolsFor } from '../pools/labels.ts';
import { type PoolsDocument, nearestPool } from '../pools/pools-document.ts';
import { onRunner, type WaitAnswer } from './explain-wait.ts';
import { type Explanation, instant, labels } from './reason-explanations.ts';

export interface UnservedFacts {
  readonly outcome: string;
  readonly receivedAt: Date;
  readonly job: JobStatement;
}

type Unserved = Omit<Explanation, 'actor'> & Pick<WaitAnswer, 'actor' | 'state'>;

/**
 * Explains a job that no pool served when its delivery came, by the pools in force now. `document`
 * is undefined if there is none.
 */
export function explainUnserved(
  { outcome, receivedAt, job }: UnservedFacts,
  document: PoolsDocument | undefined,
): WaitAnswer {
  const nothing = { place: null, lastStarts: null, workers: [], caps: [], earlier: [] };
  const at = job.completedAt ?? job.startedAt ?? job.queuedAt;
  const since = at === null ? receivedAt : new Date(at);
  return { ...nothing, reason: outcome, since, ...explain({ outcome, job, since }, document) };
}

function explain(
  { outcome, job, since }: { outcome: string; job: JobStatement; since: Date },
  document: PoolsDocument | undefined,
): Unserved {
  if (job.status !== 'pending') {
    const hasEnded = job.status === 'completed';
    const runner = onRunner({ podName: null, runnerName: job.runnerName });
    const result = job.conclusion === null ? '' : ` with the conclusion ${job.conclusion}`;
    return {
      state: hasEnded ? 'ended' : 'running',
      actor: null,
      sentence: hasEnded
        ? `It ended${runner} at ${instant(since)}${result}.`
        : `It runs${runner} since ${instant(since)}.`,
      advice: 'Nothing.',
    };
  }
  if (outcome === 'job_waiting')
    return {
      state: 'held',
      actor: 'author',
      sentence: 'GitHub holds the job back: its environment has a rule, such as an approval.',
      advice: 'Approve the deployment at GitHub, or wait until its rules allow it.',
    };
  return { state: 'not_served', ...explainIgnored(outcome, job, document) };
}

function explainIgnored(
  outcome: string,
  job: JobStatement,
  document: PoolsDocument | undefined,
): Explanation {
  const { login } = job.entity;
  if (document === undefined)
    return {
      actor: 'platform',
      sentence: 'No pools are in force yet.',
      advice: 'Start a scheduler with a configuration file.',
    };
  const place: ReturnType<typeof placeJob> =
    outcome === 'refused_entity' ? { ignored: outcome } : placeJob(document, job);
  if (!('ignored' in place))
    return {
      actor: 'platform',
      sentence: `The pool ${place.pool} serves the job now, and did not when GitHub announced it.`,
      advice: 'Resync the repository, or run the job again.',
    };
  return EXPLANATIONS[place.ignored]({ job, login, document });
}

interface Ignored {
  readonly job: JobStatement;
  readonly login: string;
  readonly document: PoolsDocument;
}

const EXPLANATIONS: Readonly<Record<IgnoredJob['ignored'], (of: Ignored) => Explanation>> = {
  ignored_entity: ({ login }) => ({
    actor: 'platform',
    sentence: `${login} is not among the configured entities.`,
    advice: 'Add it to `entities` of the configuration file.',
  }),
  refused_entity: ({ login }) => ({
    actor: 'platform',
    sentence: `Another entity had the login ${login} first, so the configuration does not mean this one.`,
    advice: 'Decide which entity the login means: docs/whose-jobs.md says how.',
  }),
  ignored_pool_closed: ({ job, document }) => ({
    actor: 'platform',
    sentence: `The pools ${namesOf(poolsFor(document.pools, job.labels))} ${job.labels.length === 0 ? 'take jobs without labels' : 'have its labels'}, and none of them serves ${job.repoFullName}.`,
    advice: 'Add the entity or the repository to `entities` or `repositories` of a pool.',
  }),
  ignored_public_repository: ({ job, document }) => ({
    actor: 'platform',
    sentence: `The pool ${poolsFor(document.pools, job.labels).find((pool) => serves(pool, job))?.name ?? ''} serves no public repositories, and ${job.repoFullName} ${job.isPublic === true ? 'is public' : 'may be public'}.`,
    advice: 'Make the repository private, or let a pool serve public repositories.',
  }),
  ignored_no_label: ({ job, document }) => {
    const serving = document.pools.filter((pool) => serves(pool, job));
    const nearest = nearestPool(serving, job.labels);
    if (job.labels.length === 0)
      return {
        actor: 'author',
        sentence:
          'It asks for no label, as `runs-on` with a group alone does, and no pool takes such jobs.',
        advice:
          'Give the job labels of a pool in `runs-on`, beside the group, or ask the platform team for a pool with `unlabelled: true`.',
      };
    return {
      actor: 'author',
      sentence:
        nearest === undefined
          ? `No pool serves ${job.repoFullName}.`
          : `No pool has all of its labels: the nearest, ${nearest.pool}, lacks ${labels(nearest.missing)}.`,
      advice:
        'Correct `runs-on`, or ask the platform team for a pool with these labels. If other runners are to run it, nothing is wrong here.',
    };
  },
};

const namesOf = (pools: readonly { readonly name: string }[]): string =>
  pools.map(({ name }) => name).join(', ');
