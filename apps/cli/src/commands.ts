import { API } from '@paddock/api/endpoints';
import { REDELIVER, SWEEPS } from '@paddock/domain/tasks/sweep-names';
import { appCheck, appCreate } from './app.ts';
import { PAUSED } from '@paddock/domain/why/diagnose-fleet';
import { ask, table } from './ask-command.ts';
import { asYaml, printable } from './columns.ts';
import type { Fields } from './asker.ts';
import type { Command } from './command.ts';
import { completion } from './completion.ts';
import { doctor } from './doctor/doctor.ts';
import { init } from './init.ts';
import {
  commandFor,
  describeCompared,
  describeDrained,
  describeHandled,
  describeOperations,
  describeStarted,
  describeSwitch,
  describeTrace,
  describeUsage,
  readAccess,
  readFailed,
  readRepository,
  sweepTable,
  tokenTable,
} from './describe.ts';
import { describeDiagnoses, why } from './why.ts';
import { poolsImport } from './import/pools-import.ts';
import { poolTable } from './pool-table.ts';
import { poolsCheck } from './pools-check.ts';
import { top } from './top/top.ts';
import { tellAction, textOf } from '@paddock/domain/text/tell-action';

/** Fields that the command itself says. */
const saying = (said: Fields) => ({ without: Object.keys(said), fields: () => said });

const SWITCH = {
  word: ['subject', 'environment|pool:NAME|entity:LOGIN|sweeps|SWEEP'],
  words: SWEEPS,
  print: describeSwitch,
} as const;

const traceOf = (of: string, takes: string) =>
  ({ word: ['id', takes], ...saying({ of }), print: describeTrace }) as const;

const ALL = { all: { doc: 'Whatever their kind and age' } };

export const COMMANDS: readonly Command[] = [
  why,
  top,
  ask('diagnose', API.listDiagnoses, {
    word: ['of', 'LOGIN|OWNER/NAME'],
    summary: `Says what is wrong with an account or a repository, and who can mend it.
\`paddock why\` explains one job.`,
    print: describeDiagnoses,
  }),
  ask('troubles', API.listDiagnoses, {
    summary: `Says what holds back work anywhere, or in a pool, the worst first, who can mend it, and
the command that ends it.`,
    without: ['of'],
    print: describeDiagnoses,
  }),
  ask('try-again', API.tryAgain, {
    word: ['name', 'NAME'],
    words: Object.values(PAUSED).flat(),
    print: ({ tried }) => `${tried} pauses have ended.\n`,
  }),
  ask('find', API.find, {
    word: ['text', 'TEXT'],
    summary: `Says what has an id, a name or an address at GitHub, the likeliest first, and
which command shows it.`,
    print: table(
      ['kind', 'id', 'name', ['COMMAND', (found) => `paddock ${commandFor(found)}`]],
      'The rows have nothing of that id, name or address.',
    ),
  }),
  ask('jobs', API.listJobs, {
    summary: `Lists jobs, newest first. Waiting and running ones take any filter; others take a repository
with workflow and conclusion, or an entity, a pool and a conclusion.`,
    print: table(
      [
        'id',
        ['STATE', ({ conclusion, state }) => conclusion ?? state],
        ['REPOSITORY', ({ repository }) => repository.fullName],
        ['JOB', ({ workflow, name }) => (workflow === null ? name : `${workflow} / ${name}`)],
        'pool',
        ['CREATED', ({ createdAt }) => createdAt],
        'worker',
        [
          'WHY',
          ({ wait, failure }) => (wait === null ? failure : `${wait.reason} since ${wait.since}`),
        ],
      ],
      'There is no such job.',
    ),
  }),
  ask('job', API.findJob, {
    word: ['job', 'ID'],
    summary:
      'Shows one job: its timeline, its worker and its deliveries. `paddock why` explains a wait.',
    print: asYaml,
  }),
  ask('workers', API.listWorkers, {
    summary: 'Lists workers, newest first, with why they are stuck, are stopped or have failed.',
    print: table(
      [
        ...(['name', 'state', 'pool'] as const),
        ['ENTITY', ({ entity }) => entity.login],
        'job',
        ['CREATED', ({ createdAt }) => createdAt],
        // Some failures have no words but their reason: it stands there once.
        [
          'WHY',
          ({ stuck, stop, failure }) =>
            [...new Set([stuck?.reason, stop?.reason, failure])]
              .filter((text) => text)
              .join(': ') || null,
        ],
      ],
      'There is no such worker.',
    ),
  }),
  ask('worker', API.findWorker, {
    word: ['worker', 'NAME'],
    summary: `Shows one worker: its timeline, the job that it runs or ran, and the diagnosis of its pod with
the end of its log.`,
    print: asYaml,
  }),
  ask('nodes', API.listNodes, {
    print: table(
      [
        ...(['node', 'workers', 'busy'] as const),
        ['TROUBLE', ({ troubles }) => troubles.map(({ sentence }) => sentence).join(' ') || null],
      ],
      'No worker lives on a node, and none failed there in the last day.',
    ),
  }),
  ask('trace installation', API.trace, {
    ...traceOf('installation', 'ID'),
    summary: 'Lists what happened to the entity of an installation, the newest first.',
  }),
  ask('trace job', API.trace, {
    ...traceOf('job', 'ID'),
    summary: 'Lists what happened to the entity of a job, the newest first.',
  }),
  ask('trace payload', API.traceEvent, { word: ['event', 'EVENT'], print: asYaml }),
  ask('trace', API.trace, {
    ...traceOf('entity', 'LOGIN|ID'),
    summary: `Lists what happened to an entity, the newest first: deliveries, jobs, workers, operations and
actions. A former login will do.`,
  }),
  ask('operation retry', API.handleOperation, {
    word: ['operation', 'ID'],
    summary: 'Repeats a failed operation as a new one, with all attempts.',
    ...saying({ how: 'retry' }),
    print: describeStarted,
  }),
  ask('operation discard', API.handleOperation, {
    word: ['operation', 'ID'],
    summary: 'Marks a failed operation as dealt with. It is found until it expires.',
    ...saying({ how: 'discard' }),
    print: ({ id }) => `${id} is dealt with.\n`,
  }),
  ask('operations retry', API.handleFailedOperations, {
    summary: 'Repeats the failed operations that fit, 200 at a time, the newest first.',
    without: ['how'],
    options: ALL,
    fields: readFailed('retry'),
    print: describeHandled('repeated'),
  }),
  ask('operations discard', API.handleFailedOperations, {
    summary: 'Marks the failed operations that fit as dealt with, 200 at a time, newest first.',
    without: ['how'],
    options: ALL,
    fields: readFailed('discard'),
    print: describeHandled('discarded'),
  }),
  ask('usage', API.listUsage, {
    summary: `Sums up jobs, runner minutes and queue times, the most minutes first: of the last 7 days, by
repository, unless said. A span has at most 31 days.`,
    print: describeUsage,
  }),
  ask('active', API.countActive, {
    print: table(
      [
        [
          'OF',
          ({ entity, labels, pool, reason }) =>
            entity?.login ?? pool ?? labels?.join(',') ?? reason ?? null,
        ],
        ...(['waiting', 'running', 'starting', 'idle', 'busy', 'stopping'] as const),
      ],
      'No job waits or runs, and no worker lives.',
    ),
  }),
  ask('compare', API.compareRunners, {
    summary: `Compares queue times and failures of jobs on our workers with those on other runners, by
the labels that they asked for: of the last 7 days, unless said.`,
    print: describeCompared,
  }),
  ask('installations', API.listInstallations, {
    print: table(
      [
        ['LOGIN', ({ entity }) => entity.login],
        ['ENTITY', ({ entity }) => entity.id],
        ['TYPE', ({ entity }) => entity.type],
        ...(['app', 'id', 'state', 'since', 'repositories'] as const),
      ],
      'No App of Paddock was ever installed.',
    ),
  }),
  ask('installation', API.findInstallation, { word: ['installation', 'ID'], print: asYaml }),
  ask('repositories', API.listRepositories, {
    print: table(
      [
        ['NAME', ({ fullName }) => fullName],
        ['ENABLED', ({ disabled }) => disabled ?? 'yes'],
        ['LAST RESYNC', ({ lastSync }) => lastSync && `${lastSync.status} ${lastSync.at}`],
        ['OPERATION', ({ lastSync }) => lastSync?.operation ?? null],
        ['DISCOVERY', ({ lookedAt }) => lookedAt],
      ],
      'Paddock has heard of no repository.',
    ),
  }),
  ask('repository', API.findRepository, {
    word: ['name', 'OWNER/NAME'],
    without: ['owner', 'repository'],
    fields: readRepository,
    print: asYaml,
  }),
  ask('redeliveries', API.listRedeliveries, {
    print: table(
      [
        ...(['state', 'app', 'event', 'installation', 'repository'] as const),
        ['FAILED FIRST', ({ firstFailedAt }) => firstFailedAt],
        [
          'CODE',
          ({ missingHere, lastStatusCode }) => (missingHere ? 'missing here' : lastStatusCode),
        ],
        ['ASKED', ({ requests }) => requests],
        ['NEXT', ({ nextRequestAt }) => nextRequestAt],
        'guid',
      ],
      'Every delivery has arrived.',
    ),
  }),
  ask('delivery', API.findDelivery, { word: ['delivery', 'GUID'], print: asYaml }),
  ask('operations counts', API.countOperations, {
    summary:
      'Counts the operations that ended, of the last day unless said, by kind, outcome and hour or day.',
    print: table(
      [
        'from',
        'kind',
        [
          'OUTCOME',
          ({ outcome, reason }) => (reason === null ? outcome : `${outcome} (${reason})`),
        ],
        'ended',
      ],
      'No operation ended in this time.',
    ),
  }),
  ask('operations failed', API.listOperations, {
    summary: 'Lists the failed operations, newest first, with who has retried or discarded them.',
    without: ['status', 'detail'],
    fields: () => ({ status: 'ERROR' }),
    print: describeOperations,
  }),
  ask('operations', API.listOperations, {
    word: ['subject', '[TYPE:ID]'],
    summary: `Lists operations, of a subject or all: those that run, then those that wait, then those that
ended, each the newest first. Subjects are repository:OWNER/NAME, worker:NAME, installation:ID, pool:NAME, app:ID,
delivery:GUID and schedule:SWEEP.`,
    without: ['detail'],
    options: { detail: { doc: 'All of each: its output, and its failed runs' } },
    fields: ({ options }) => ({ detail: options['detail'] === true ? 'true' : undefined }),
    print: describeOperations,
  }),
  ask('operation', API.findOperation, {
    word: ['operation', 'ID'],
    summary: 'Shows one operation: where it stands, what it did or why it failed.',
    print: asYaml,
  }),
  ask('resync installation', API.resyncInstallation, {
    word: ['installation', 'ID'],
    print: describeStarted,
  }),
  ask('resync', API.resyncRepository, {
    word: ['name', 'OWNER/NAME'],
    without: ['owner', 'repository'],
    fields: readRepository,
    print: describeStarted,
  }),
  ask('redeliver-since', API.runSweep, {
    word: ['since', 'DATE'],
    without: ['sweep', 'dryRun'],
    fields: () => ({ sweep: REDELIVER }),
    summary: `Has GitHub repeat all deliveries since an instant that our events lack, as after a restore.
DATE is 2026-01-31, an instant, or -7d, -24h.`,
    print: describeStarted,
  }),
  ask('redeliver', API.redeliverDelivery, {
    word: ['delivery', 'GUID'],
    print: describeStarted,
  }),
  ask('drain worker', API.drain, {
    word: ['name', 'NAME'],
    summary: `Stops a worker on which no job runs, once everything proves that none does. If jobs wait for it,
another one is made.`,
    without: ['of', 'dryRun'],
    fields: () => ({ of: 'worker' }),
    print: describeStarted,
  }),
  ask('drain pool', API.drain, {
    word: ['name', 'NAME'],
    ...saying({ of: 'pool' }),
    summary: `Stops the making of workers in a pool, and those of its workers on which no job runs.
\`paddock resume pool:NAME\` allows new ones.`,
    print: describeDrained,
  }),
  ask('run', API.runSweep, {
    word: ['sweep', 'SWEEP'],
    without: ['since'],
    print: describeStarted,
  }),
  ask('sweeps', API.listSweeps, { print: sweepTable }),
  ask('switches', API.listSwitches, {
    print: table(['subject', 'name', 'by', 'since', 'note'], 'Nothing is paused.'),
  }),
  ask('pause', API.turnSwitch, {
    ...SWITCH,
    ...saying({ how: 'pause' }),
    summary: `Holds the making of workers back: everywhere, in a pool, or for an entity. Workers that are there go on.
Or a sweep of the reconciler, or all sweeps. A dry run still runs.`,
  }),
  ask('resume', API.turnSwitch, {
    ...SWITCH,
    ...saying({ how: 'resume' }),
    summary: 'Lets it go on again. What another switch holds back stays.',
  }),
  ask('actions', API.listActions, {
    print: table(
      [
        'at',
        ['WHO', ({ person }) => person],
        'from',
        ['DID', (action) => textOf(tellAction(action))],
        'note',
      ],
      'There is no action yet.',
    ),
  }),
  ask('token create', API.createToken, {
    word: ['name', 'NAME'],
    summary: `Makes a token of the API and prints it, this once. It may read, unless told otherwise.
With --endpoint and --subject it calls this endpoint for this subject, and nothing else.`,
    fields: readAccess,
    print: ({ token }) => `${token}\n`,
  }),
  ask('token list', API.listTokens, { print: tokenTable }),
  ask('token revoke', API.revokeToken, {
    word: ['token', 'NAME'],
    print: (revoked) => tokenTable({ items: [revoked] }),
  }),
  ask('session list', API.listSessions, {
    print: table(
      ['person', 'sessions', 'since', 'until'],
      'No person is signed in by an identity provider.',
    ),
  }),
  ask('session end', API.endSessions, {
    word: ['person', 'PERSON'],
    print: ({ person, ended }) => `${ended} sessions of ${printable(person)} have ended.\n`,
  }),
  init,
  doctor,
  poolsCheck,
  poolsImport,
  appCreate,
  appCheck,
  ask('pools', API.listPools, {
    summary: `Lists all pools: demand, supply, caps, and queue times of the last hour's starts.
\`paddock troubles --pool NAME\` says what holds work of one back.`,
    without: ['minutes'],
    print: poolTable,
  }),
  ask('pool', API.findPool, { word: ['pool', 'NAME'], print: asYaml }),
  completion,
];
