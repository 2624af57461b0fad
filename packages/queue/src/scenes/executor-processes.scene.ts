import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Db } from '@paddock/db/schema/tables';
import { bundledProgram } from '@paddock/testing/processes';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import type { ExecutorProgramOptions, Said } from './executor-program.scene.ts';
import type { ExecutorRules } from '../executor-settings.ts';

/** Executors in a separate process. */
export interface ExecutorProcess {
  /** Its reports of this kind, and of this subject if one is given, in order. */
  heard(what: Said['what'], subject?: string): readonly Said[];
  /**
   * Waits until it reports this, of this subject if one is given, and returns the first of these.
   */
  waitFor(what: Said['what'], subject?: string): Promise<Said>;
  /** Lets the runs of the kind `hold` of this subject go on, those to come too. */
  open(subject: string): void;
  kill(signal: NodeJS.Signals): void;
  readonly exited: Promise<{
    readonly code: number | null;
    readonly signal: NodeJS.Signals | null;
  }>;
}

type ExecutorProcessOptions = Pick<ExecutorProgramOptions, 'name'> &
  Partial<Omit<ExecutorProgramOptions, 'rules'>> & { readonly rules?: Partial<ExecutorRules> };

const MINUTE_MS = 60_000;

/** Long enough to play no part, unless the test says otherwise. */
const RULES: ExecutorRules = {
  claimMs: MINUTE_MS,
  pollMs: 100,
  // No run ends by it, however long a test takes.
  timeoutMs: 60 * MINUTE_MS,
  backoff: { firstMs: 200, longestMs: 1_000 },
  keep: { okMs: 60 * MINUTE_MS, failedMs: 60 * MINUTE_MS },
  concurrencyPercent: 100,
  drainMs: 10_000,
};

const PROGRAM = bundledProgram('executors', join(import.meta.dirname, 'executor-program.scene.ts'));

/**
 * Starts executors of the kinds `count` and `hold` as processes, on a database that
 * `prepareEffects` has seen.
 */
export function executorProcesses(place: () => Pick<ExecutorProgramOptions, 'url' | 'schema'>) {
  const children: { child: ChildProcess; exited: Promise<unknown> }[] = [];
  return {
    async start({ name, rules, ...more }: ExecutorProcessOptions): Promise<ExecutorProcess> {
      const { url, schema } = place();
      const all: ExecutorProgramOptions = {
        name,
        url,
        schema,
        executors: 1,
        slots: { count: 4, hold: 4 },
        ...more,
        rules: { ...RULES, ...rules },
      };
      // Not the test's own environment and flags: those are Jest's.
      const child = fork(PROGRAM, [JSON.stringify(all)], {
        env: {},
        execArgv: [],
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      });
      const said: Said[] = [];
      child.on('message', (message) => said.push(message as Said));
      // "close" comes after "exit", when all that it has told has arrived.
      const exited = once(child, 'close').then(([code, signal]) => ({ code, signal }));
      children.push({ child, exited });
      const heard: ExecutorProcess['heard'] = (what, subject) =>
        said.filter(
          (one) => one.what === what && (subject === undefined || one.subject === subject),
        );
      const process: ExecutorProcess = {
        heard,
        waitFor: (what, subject) =>
          waitFor(
            `${name} to tell "${what}" of ${subject ?? 'anything'}`,
            () => heard(what, subject)[0],
          ),
        open: (subject) => void child.send(subject),
        kill: (signal) => void child.kill(signal),
        exited,
      };
      await process.waitFor('ready');
      return process;
    },
    /** Kills what still runs, stopped or not. */
    async killAll(): Promise<void> {
      for (const { child } of children) child.kill('SIGKILL');
      await Promise.all(children.splice(0).map(({ exited }) => exited));
    },
  };
}

/**
 * Waits until PostgreSQL has noticed the end of the killed processes. A claim that one of them had
 * sent could otherwise take the next test's tasks.
 */
export const sessionsToEnd = (db: Db): Promise<true> =>
  waitFor('the sessions of the killed to end', async () => {
    const { rows } = await sql`
      select from pg_stat_activity
      where datname = current_database() and backend_type = 'client backend' and application_name <> current_setting('application_name')`.execute(
      db,
    );
    return rows.length === 0;
  });

/** Makes the table that the handlers of the processes write to. */
export async function prepareEffects(db: Db): Promise<void> {
  await sql`create table effects (task_id uuid not null, subject text not null, holder text not null, fence bigint not null)`.execute(
    db,
  );
}

export const readEffects = async (db: Db) =>
  (
    await sql<
      Record<'task_id' | 'subject' | 'holder', string>
    >`select task_id, subject, holder from effects order by subject`.execute(db)
  ).rows;
