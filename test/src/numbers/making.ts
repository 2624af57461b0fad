import {
  failureClass,
  pausesOf,
  USUAL_FAILURE_RULES,
} from '@paddock/domain/matching/failure-classes';
import { MOST_UNSCHEDULABLE } from '@paddock/domain/matching/matching-rules';
import { USUAL_MAX_WORKERS } from '@paddock/domain/pools/entities';
import { judgeAbsence, NONE_UNCONFIRMED } from '@paddock/domain/workers/judge-absence';
import { NOT_ASSIGNED } from '@paddock/domain/workers/stop-reasons';
import { GROUP_LIFETIME_MS } from '@paddock/github/runner-groups';
import { runnerPod } from '@paddock/kube/runner-pod';
import { WATCH_SECONDS } from '@paddock/kube/watch-pods';
import { LARGEST_DIAGNOSIS_BYTES } from '@paddock/scheduler/following/diagnosis';
import { TAIL_LINES } from '@paddock/scheduler/following/examine-pod';
import { NAMESPACES_MS } from '@paddock/scheduler/following/follow-pods';
import { schedulerKinds } from '@paddock/scheduler/kinds';
import { code, type NumberRow, row, rule, setting, testOf } from './number-row.ts';

const unserved = pausesOf(NOT_ASSIGNED, USUAL_FAILURE_RULES);

const slots = (kind: string) =>
  code(
    'schedulerKinds in apps/scheduler/src/kinds.ts',
    () => schedulerKinds({} as never)[kind]?.slots,
  );

/** How many workers are made, when, and how each is followed. */
export const making: readonly NumberRow[] = [
  row(
    'C1',
    '15 s',
    'How often demand and supply are compared without a notification',
    rule('scheduler', 'matchTickMs'),
  ),
  row(
    'C3',
    '11 min',
    'How long an unexplained end counts against a waiting job: two cycles of redelivery and a minute',
    rule('scheduler', 'unexplainedGraceMs'),
  ),
  row(
    'C3',
    '1 min',
    'How long a registered worker without a job waits for the next one',
    rule('db', 'surplusAfterMs'),
  ),
  row(
    'C4',
    '20',
    'Cap of an entity that names none',
    code('USUAL_MAX_WORKERS in packages/domain/src/pools/entities.ts', () => USUAL_MAX_WORKERS),
  ),
  row(
    'C4',
    '10',
    'Most workers of a key that no node takes, unless the pool says another number',
    code(
      'MOST_UNSCHEDULABLE in packages/domain/src/matching/matching-rules.ts',
      () => MOST_UNSCHEDULABLE,
    ),
  ),
  row(
    'C4',
    '180 a minute',
    'Most registrations of one installation; GitHub allows 900 points, and each costs 5',
    rule('db', 'registrationsPerMinute'),
  ),
  row(
    'C10',
    '12 h',
    'Age at which a warm worker is replaced; GitHub forgets an unused registration after a day',
    rule('db', 'warmLifetimeMs'),
  ),
  row(
    'C11',
    '3',
    'Failures of a key’s workers without a success between them that pause it',
    code(
      'failureClass in packages/domain/src/matching/failure-classes.ts',
      () => failureClass('').strikes,
    ),
  ),
  row(
    'C11',
    '30 s',
    'First pause of a key whose workers fail, doubled by each further failure',
    rule('db', 'failingPauseMs'),
  ),
  row('C11', '15 min', 'Longest such pause', rule('db', 'failingLongestPauseMs')),
  row(
    'C11',
    '1 h',
    'Longest time without a call where GitHub refuses us; an eighth of the time since it began to, a minute at least',
    testOf(
      'packages/db/src/entities/refusals.db.test.ts',
      'after %s of refusals, the next look comes at most an eighth later than it could',
    ),
  ),
  row(
    'C11',
    '10 min',
    'First pause of a key to whose workers GitHub gives no job',
    code(
      'pausesOf in packages/domain/src/matching/failure-classes.ts',
      () => unserved.firstPauseMs,
    ),
  ),
  row(
    'C11',
    '2 h',
    'Longest such pause',
    code(
      'pausesOf in packages/domain/src/matching/failure-classes.ts',
      () => unserved.longestPauseMs,
    ),
  ),
  row('C6', '16', 'Workers that one scheduler provisions at a time', slots('provision-worker')),
  row(
    'C6',
    '2 min',
    'Age at which a worker without a pod and without a task is provisioned again',
    rule('scheduler', 'forgottenAfterMs'),
  ),
  row(
    'C7',
    '1 h',
    'How long the id of a runner group is cached',
    code('GROUP_LIFETIME_MS in packages/github/src/runner-groups.ts', () => GROUP_LIFETIME_MS),
  ),
  row(
    'P2',
    '7 d',
    'Deadline of a runner pod; GitHub ends a job after five days',
    code('runnerPod in packages/kube/src/runner-pod.ts', () => deadlineOf()),
  ),
  row(
    'P2',
    '6.25 d',
    'Shortest deadline that a template may give it',
    code('runnerPod in packages/kube/src/runner-pod.ts', () => deadlineOf(1)),
  ),
  row(
    'A12',
    '8 s',
    'How long a dead replica keeps others from following the pods',
    rule('scheduler', 'leaseMs'),
  ),
  row(
    'A12',
    '2 s',
    'How often the replica that follows the pods renews its lease',
    rule('scheduler', 'leaseRenewMs'),
  ),
  row(
    'A11',
    '32',
    'Connections in the pool of the scheduler: one for each task, and two more',
    setting('PADDOCK_SCHEDULER_POOL_SIZE'),
  ),
  row(
    'C8',
    '2 min',
    'Longest time until a silently broken watch is renewed',
    code('WATCH_SECONDS in packages/kube/src/watch-pods.ts', () => WATCH_SECONDS * 1_000),
  ),
  row(
    'C8',
    '5 s',
    'Longest time until the first pod in a new namespace is followed',
    code('NAMESPACES_MS in apps/scheduler/src/following/follow-pods.ts', () => NAMESPACES_MS),
  ),
  row(
    'C8',
    '5 min',
    'Age at which a pod that has not started is diagnosed',
    rule('scheduler', 'stuckAfterMs'),
  ),
  row(
    'C8',
    '64 KB',
    'Largest diagnosis of a failed pod',
    code(
      'LARGEST_DIAGNOSIS_BYTES in apps/scheduler/src/following/diagnosis.ts',
      () => LARGEST_DIAGNOSIS_BYTES,
    ),
  ),
  row(
    'C8',
    '200',
    'Lines of each log in it',
    code('TAIL_LINES in apps/scheduler/src/following/examine-pod.ts', () => TAIL_LINES),
  ),
  row(
    'C8',
    '10',
    'Fewest missing pods that make a list doubtful, if they are most of those known',
    code('judgeAbsence in packages/domain/src/workers/judge-absence.ts', fewestUnconfirmed),
  ),
];

/** In milliseconds. */
function deadlineOf(activeDeadlineSeconds?: number): number | undefined {
  const template =
    activeDeadlineSeconds === undefined ? {} : { template: { spec: { activeDeadlineSeconds } } };
  const seconds = runnerPod({ ...POD, ...template }).spec?.activeDeadlineSeconds;
  return seconds === undefined ? undefined : seconds * 1_000;
}

const POD = {
  name: 'pdk-1',
  namespace: 'runners',
  instance: 'abc123',
  pool: 'linux',
  image: 'runner',
  entityId: 1,
  scopeRepoId: 0,
};

function fewestUnconfirmed(): number | undefined {
  const names = Array.from({ length: 100 }, (_, index) => `pod-${index}`);
  const lacking = (count: number) =>
    judgeAbsence(
      { known: names.slice(0, count), present: new Set(), unconfirmed: NONE_UNCONFIRMED, nowMs: 0 },
      1,
    );
  return names.findIndex((_, count) => lacking(count).unconfirmed.size > 0);
}
