import type { NamedMutant } from '../tools/mutants/named-mutant.ts';

const LISTS = 'packages/db/src/newest-first.ts';
const OPERATIONS = 'packages/api/src/operations/list-operations.ts';

const acts = ['packages/api/src/actions/actions.db.test.ts'];
const operations = ['packages/api/src/operations/operations.db.test.ts'];
const asked = ['packages/api/src/operations/start-operation.db.test.ts'];
const switches = ['packages/api/src/switches/switches.db.test.ts'];
const workers = ['packages/api/src/workers/workers.db.test.ts'];

/** What people do is written down, is found again, and reaches no further than they meant. */
export const consoleActs: readonly NamedMutant[] = [
  {
    mutant: 'an act leaves no row in the audit',
    file: 'packages/api/src/actions/act.ts',
    find: '    await record(trx, caller, request);\n',
    replace: '',
    tests: acts,
  },
  {
    mutant: 'an operation that a person starts leaves no row in the audit',
    file: 'packages/api/src/operations/start-sweep.ts',
    find: '    await record(trx, caller, request, id);\n',
    replace: '',
    tests: asked,
  },
  {
    mutant: 'an operation is found after it has expired',
    file: 'packages/api/src/operations/operation.ts',
    find: 'where id = ${id} and expires_at > now()',
    replace: 'where id = ${id}',
    tests: operations,
  },
  {
    mutant: 'a list of operations has those that have expired',
    file: OPERATIONS,
    find: 'where ${isMeant} and expires_at > now() ${newest}',
    replace: 'where ${isMeant} ${newest}',
    tests: operations,
  },
  {
    mutant: 'the next page of operations lacks those of the last one’s instant',
    file: OPERATIONS,
    find: '(queued_at, id) < (${last[0]}::timestamptz, ${last[1]}::uuid)',
    replace: 'queued_at < ${last[0]}::timestamptz',
    tests: operations,
  },
  {
    mutant: 'the next page of a list lacks the rows of the last one’s instant',
    file: LISTS,
    find: '(${at}, ${id}) < (${after[0]}::timestamptz, ${after[1]}::${idType})',
    replace: '${at} < ${after[0]}::timestamptz',
    tests: workers,
  },
  {
    mutant: 'the place in a list forgets the microseconds',
    file: LISTS,
    find: 'SS.US',
    replace: 'SS.MS',
    tests: workers,
  },
  {
    mutant: 'a switch loses its reason',
    file: 'packages/db/src/switches.ts',
    find: 'switched_by: switchedBy, note }',
    replace: 'switched_by: switchedBy, note: note?.slice(0, 0) }',
    tests: switches,
  },
  {
    mutant: 'a sweep is held back by its own switch only',
    file: 'packages/db/src/switches.ts',
    find: '[EVERY_SWEEP, kind, `${kind}:${subjectId}`]',
    replace: '[kind, `${kind}:${subjectId}`]',
    tests: ['apps/reconciler/src/sweep.db.test.ts'],
  },
  {
    mutant: 'a delivery is asked for of another App than the one that was named',
    file: 'apps/reconciler/src/sweeps.ts',
    find: 'named === undefined || named === id',
    replace: 'named === undefined || named !== undefined',
    tests: ['apps/reconciler/src/sweeps.db.test.ts'],
  },
  {
    mutant: 'draining takes a worker that runs a job',
    file: 'packages/db/src/workers/worker-stops.ts',
    find: '((${UNASSIGNED}) or (${RETURNABLE}))',
    replace: '((${LIVE}) or (${UNASSIGNED}) or (${RETURNABLE}))',
    tests: ['packages/api/src/workers/drain-worker.db.test.ts'],
  },
  {
    mutant: 'a running task that a person’s request was merged into stays automatic',
    file: 'packages/queue/src/write-settlements.ts',
    find: `case when merged.origin = 'MANUAL' then merged.origin else tasks.origin end`,
    replace: 'tasks.origin',
    tests: ['packages/queue/src/enqueue.db.test.ts'],
  },
];
