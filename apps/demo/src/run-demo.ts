import { randomBytes } from 'node:crypto';
import { API } from '@paddock/api/endpoints';
import { findInstance } from '@paddock/db/instance';
import { connectDatabase } from '@paddock/db/connection/connect';
import { roleOf, type ServiceName } from '@paddock/db/connection/schema-name';
import { startPostgres } from '@paddock/embedded-postgres/start-postgres';
import type { Database } from '@paddock/db/schema/tables';
import { pause } from '@paddock/runtime/pause';
import { type Kysely, sql } from 'kysely';
import type { Flags } from './flags.ts';
import { borrowNamespace } from './play-in-cluster.ts';
import { playJobs } from './play-jobs.ts';
import { prepareFolder } from './prepare-folder.ts';
import { createProgress } from './progress.ts';
import { NAMESPACE, PLATFORM } from './scenario.ts';
import { startSystem } from './start-system.ts';
import { describeSummary, summarise, type Summary } from './summary.ts';
import { playTour, tellTour } from './tour/play-tour.ts';
import { TOUR_PLATFORM } from './tour/tour-platform.ts';

export interface Surroundings {
  databaseUrl: string | undefined;
  /** A real cluster for the pods, instead of the simulated one. */
  kubeconfigFile: string | undefined;
  path: string | undefined;
  /** Where the progress is shown. */
  write: (text: string) => unknown;
  /** The program of a service. */
  programOf: (service: ServiceName) => string;
}

/**
 * Runs the whole system on this machine: starts it, plays the jobs, makes the summary, removes all
 * of it. Undefined: it was interrupted before the summary.
 */
export async function runDemo(
  flags: Flags,
  surroundings: Surroundings,
  signal: AbortSignal,
): Promise<Summary | undefined> {
  const undo: Undo = [];
  let outcome: Summary | undefined;
  try {
    outcome = await demonstrate(flags, surroundings, undo, signal);
  } catch (error) {
    // The first failure says most, so it comes last.
    await undoAll(undo).catch((left: unknown) => surroundings.write(`${String(left)}\n`));
    throw error;
  }
  await undoAll(undo);
  return outcome;
}

/** The steps that remove what was started, the newest first. */
type Undo = (() => Promise<void>)[];

async function demonstrate(
  flags: Flags,
  surroundings: Surroundings,
  undo: Undo,
  signal: AbortSignal,
): Promise<Summary | undefined> {
  const progress = createProgress(surroundings.write);
  const platform = flags.tour ? TOUR_PLATFORM : PLATFORM;
  const { databaseUrl, schema } = await findDatabase(surroundings.databaseUrl, undo);
  const folder = await prepareFolder([...platform.appIds, ...platform.appsOfIngress], () =>
    randomBytes(24).toString('base64url'),
  );
  undo.unshift(folder.remove);
  progress.say(
    'Starting PostgreSQL, a simulated GitHub and cluster, ingress, scheduler and reconciler, each in a separate process.',
  );
  const system = await startSystem({
    folder,
    databaseUrl,
    schema,
    platform,
    kubeconfigFile: surroundings.kubeconfigFile,
    path: surroundings.path,
    programOf: surroundings.programOf,
    seed: flags.jobs,
    console: flags.keep,
    undo,
  });
  const connection = connectDatabase({
    url: databaseUrl,
    schema,
    poolSize: 2,
    // The dozens of stops of the tour ask at once, and each waits for its turn.
    connectTimeoutMs: 60_000,
    applicationName: 'paddock-demo',
  });
  undo.unshift(connection.close);
  if (surroundings.kubeconfigFile !== undefined) {
    const instance = await findInstance(connection.db);
    undo.unshift(await borrowNamespace(surroundings.kubeconfigFile, NAMESPACE, instance));
  }
  if (flags.keep)
    progress.say(
      `The console: ${system.addresses['console']}/#sign-in=${await makeToken(connection.db)} (signs in once)`,
    );

  const seconds = await playJobs({ flags, system, db: connection.db, progress }, signal);
  if (signal.aborted) {
    progress.say('Interrupted: stopping everything.');
    return undefined;
  }
  const report = await system.github.report();
  const truth = await system.github.truth();
  const summary = await summarise(flags.jobs, truth, report, connection.db, seconds);
  progress.say(`\n${describeSummary(summary)}`);
  const tour = flags.tour
    ? await playTour({ system, db: connection.db, progress }, signal)
    : undefined;
  if (signal.aborted) return summary;
  if (tour !== undefined) progress.say(tellTour(tour, system.addresses['console']));
  const outcome = {
    ...summary,
    ...(tour && { tour: { reached: tour.sights.length, missed: tour.missed.length } }),
  };
  if (flags.keep) {
    progress.say(
      `Staying up until Ctrl-C: ${Object.entries(system.addresses)
        .map(([name, url]) => `${name} ${url}`)
        .join(', ')}\n  PostgreSQL ${databaseUrl}, schema ${schema}`,
    );
    await pause(2 ** 31 - 1, signal);
  }
  return outcome;
}

/** A token for one sign-in of whoever looks at the demo. It ends with the demo's database. */
async function makeToken(db: Kysely<Database>): Promise<string> {
  const { input, answer } = API.createToken;
  const given = input.parse({ name: 'demo', access: 'operate', oneTime: true });
  return (await answer({ db, person: 'the demo', from: 'terminal' }, given)).token;
}

/**
 * Removes everything that the demo started, the newest first. A step that fails does not stop the
 * others.
 */
async function undoAll(steps: Readonly<Undo>): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps) await step().catch((error: unknown) => failures.push(error));
  if (failures.length > 0)
    throw new AggregateError(failures, 'The demo could not remove everything that it had started.');
}

const SERVICES: readonly ServiceName[] = ['ingress', 'scheduler', 'reconciler', 'console'];

/**
 * The embedded PostgreSQL, or a new schema in the given database; `undo` gets the function that
 * removes either.
 */
async function findDatabase(
  databaseUrl: string | undefined,
  undo: Undo,
): Promise<{ databaseUrl: string; schema: string }> {
  if (databaseUrl === undefined || databaseUrl === '') {
    const postgres = await startPostgres();
    undo.unshift(() => postgres.stop());
    return { databaseUrl: postgres.url(), schema: 'paddock' };
  }
  const schema = `paddock_demo_${randomBytes(4).toString('hex')}`;
  undo.unshift(async () => {
    const { db, close } = connectDatabase({
      url: databaseUrl,
      schema,
      poolSize: 1,
      applicationName: 'paddock-demo',
    });
    try {
      await sql`drop schema if exists ${sql.id(schema)} cascade`.execute(db);
      // The roles that the migrator has made for the schema, with their rights in this database.
      for (const role of SERVICES.map((name) => roleOf(schema, name))) {
        const { rows } = await sql`select from pg_roles where rolname = ${role}`.execute(db);
        if (rows.length === 0) continue;
        await sql`drop owned by ${sql.id(role)}`.execute(db);
        await sql`drop role ${sql.id(role)}`.execute(db);
      }
    } finally {
      await close();
    }
  });
  return { databaseUrl, schema };
}
