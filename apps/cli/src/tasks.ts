import { redeliverDeliveryEndpoint } from '@paddock/api/deliveries/redeliver-delivery';
import { resyncInstallationEndpoint } from '@paddock/api/installations/resync-installation';
import { type DrainedPool, drainPoolEndpoint } from '@paddock/api/pools/drain-pool';
import { resyncRepositoryEndpoint } from '@paddock/api/repositories/resync-repository';
import { redeliverSinceEndpoint } from '@paddock/api/sweeps/redeliver-since';
import { runSweepEndpoint } from '@paddock/api/sweeps/run-sweep';
import { drainWorkerEndpoint } from '@paddock/api/workers/drain-worker';
import { askCommand } from './ask-command.ts';
import { type Command, type Given, WrongUsage } from './command.ts';
import { oneWord } from './one-word.ts';
import { started } from './started.ts';

/** The two names of OWNER/NAME. */
function repository(given: Given): { owner: string; repository: string } {
  const [owner = '', name = '', ...more] = oneWord(given, 'repository').split('/');
  if (owner === '' || name === '' || more.length > 0)
    throw new WrongUsage('A repository is OWNER/NAME.');
  return { owner, repository: name };
}

export const tasksCommands: readonly Command[] = [
  askCommand({
    name: 'resync installation',
    takes: 'ID',
    summary: `Resyncs the active repositories of an installation, by GitHub's id of it.
Each has an operation of its own.`,
    endpoint: resyncInstallationEndpoint,
    input: (given) => ({ installation: oneWord(given, 'id') }),
    print: started,
  }),
  askCommand({
    name: 'resync',
    takes: 'OWNER/NAME',
    summary: 'Compares all unfinished runs of a repository at GitHub with our jobs.',
    endpoint: resyncRepositoryEndpoint,
    input: repository,
    print: started,
  }),
  askCommand({
    name: 'redeliver-since',
    takes: 'DATE',
    summary: `Has GitHub repeat all deliveries since an instant that our events lack, as after a restore.
DATE is 2026-01-31, an instant, or -7d, -24h.`,
    options: { app: { type: 'string', value: 'ID', doc: 'the App, by its id' } },
    endpoint: redeliverSinceEndpoint,
    input: (given) => ({
      since: oneWord(given, 'date'),
      app: given.options['app'],
    }),
    print: started,
  }),
  askCommand({
    name: 'redeliver',
    takes: 'GUID',
    summary: 'Has GitHub repeat one delivery, which it can for three days.',
    options: {
      app: { type: 'string', value: 'ID', doc: 'whose log has it; all are looked through else' },
    },
    endpoint: redeliverDeliveryEndpoint,
    input: (given) => ({
      delivery: oneWord(given, 'GUID'),
      app: given.options['app'],
    }),
    print: started,
  }),
  askCommand({
    name: 'drain worker',
    takes: 'NAME',
    summary: `Stops a worker on which no job runs, once everything proves that none does.
If jobs wait for it, another one is made.`,
    endpoint: drainWorkerEndpoint,
    input: (given) => ({ worker: oneWord(given, 'name') }),
    print: started,
  }),
  askCommand({
    name: 'drain pool',
    takes: 'NAME',
    summary: `Stops the making of workers in a pool, and those of its workers on which no job runs.
\`paddock resume pool:NAME\` allows new ones.`,
    options: { 'dry-run': { type: 'boolean', doc: 'only count the workers' } },
    endpoint: drainPoolEndpoint,
    input: (given) => ({ pool: oneWord(given, 'name'), dryRun: given.options['dry-run'] }),
    print: ({ output }) => {
      const { stopping, busy, dryRun = false } = output as DrainedPool;
      return `${stopping} workers ${dryRun ? 'would stop' : 'are to stop'}; ${busy} go on to the end of their jobs.\n`;
    },
  }),
  askCommand({
    name: 'run',
    takes: 'SWEEP',
    words: runSweepEndpoint.input.shape.sweep.options,
    summary: 'Runs a sweep of the reconciler now. The output of the operation is its counts.',
    options: {
      app: { type: 'string', value: 'ID', doc: 'for redeliver, if there are several Apps' },
      'dry-run': { type: 'boolean', doc: 'only count what it would delete' },
    },
    endpoint: runSweepEndpoint,
    input: (given) => ({
      sweep: oneWord(given, 'sweep'),
      app: given.options['app'],
      dryRun: given.options['dry-run'],
    }),
    print: started,
  }),
];
