import { randomBytes, randomInt } from 'node:crypto';
import { pause } from '@paddock/runtime/pause';
import { Client } from './connection/client.ts';
import type { ConnectionConfig } from './connection/pool.ts';
import { sqlStateOf } from './connection/errors.ts';

/** What the trial of PostgreSQL's mechanisms has shown. */
export interface Trial {
  /** What does not work, a sentence each. */
  readonly failed: readonly string[];
  /** What could not be tried, a sentence each. */
  readonly untried: readonly string[];
  /** What the server calls itself if it is not PostgreSQL itself. */
  readonly foreign: string | undefined;
}

interface Pair {
  readonly one: Client;
  readonly other: Client;
}

interface Mechanism {
  /** As the end of "PostgreSQL does not show that …". */
  readonly claim: string;
  /** What rests on it. */
  readonly use: string;
  /** Whether it works. All that it writes is rolled back. */
  readonly try: (pair: Pair) => Promise<boolean>;
}

const NOTIFY_MS = 3_000;

/** Runs `act` in a transaction that is rolled back. */
async function rolledBack<T>(client: Client, act: () => Promise<T>): Promise<T> {
  await client.query('begin');
  try {
    return await act();
  } finally {
    await client.query('rollback');
  }
}

const isTrue = async (client: Client, text: string, values: unknown[] = []): Promise<boolean> => {
  const { rows } = await client.query<{ answer: boolean }>(`select (${text}) as answer`, values);
  return rows[0]?.answer === true;
};

const MECHANISMS: readonly Mechanism[] = [
  {
    claim: 'an advisory lock of one session holds off another',
    use: 'two schedulers would make two workers for one job',
    async try({ one, other }) {
      const key = [randomInt(2 ** 47)];
      return rolledBack(one, async () => {
        await one.query('select pg_advisory_xact_lock($1)', key);
        return isTrue(other, 'not pg_try_advisory_xact_lock($1)', key);
      });
    },
  },
  {
    claim: 'a notification of one session arrives at another',
    use: 'a job would wait for the next tick',
    async try({ one, other }) {
      const channel = `paddock_doctor_${randomBytes(6).toString('hex')}`;
      const heard = new AbortController();
      const hear = () => heard.abort();
      one.on('notification', hear);
      await one.query(`listen ${channel}`);
      await other.query('select pg_notify($1, $2)', [channel, '']);
      await pause(NOTIFY_MS, heard.signal);
      await one.query(`unlisten ${channel}`);
      one.off('notification', hear);
      return heard.signal.aborted;
    },
  },
  {
    claim: 'SKIP LOCKED skips a row that another session has locked',
    use: 'two processes would take one task, or wait for each other',
    // Services write this row every few seconds, and wait for no longer than these two statements.
    try: ({ one, other }) =>
      rolledBack(one, async () => {
        await one.query('select from instance for update');
        const { rowCount } = await other.query('select from instance for update skip locked');
        return rowCount === 0;
      }),
  },
  {
    claim: 'a trigger of a statement sees the rows of it',
    use: 'no process would hear of new jobs and tasks',
    try: ({ one }) =>
      rolledBack(one, async () => {
        for (const statement of WITH_TRIGGER) await one.query(statement);
        return isTrue(one, "current_setting('paddock.doctor', true) = '3'");
      }),
  },
];

const WITH_TRIGGER = [
  'create temporary table paddock_doctor (n integer) on commit drop',
  `create function pg_temp.paddock_doctor() returns trigger language plpgsql as
    $$ begin perform set_config('paddock.doctor', (select count(*)::text from new_rows), true); return null; end $$`,
  `create trigger sees after insert on pg_temp.paddock_doctor referencing new table as new_rows
    for each statement execute function pg_temp.paddock_doctor()`,
  'insert into pg_temp.paddock_doctor select generate_series(1, 3)',
];

/** The login lacks a right, or somebody holds the lock for long. */
const NOT_TRIED = new Set(['42501', '55P03']);

/**
 * Tries with two connections what Paddock rests on, and leaves nothing behind. Other engines that
 * speak PostgreSQL's protocol lack some of it, and accept the statements. Throws what connecting
 * throws.
 */
export async function proveMechanisms(config: ConnectionConfig): Promise<Trial> {
  const [one, other] = [new Client(config), new Client(config)];
  const failed: string[] = [];
  const untried: string[] = [];
  for (const client of [one, other]) client.on('error', () => undefined);
  try {
    for (const client of [one, other]) await client.connect();
    const { rows } = await one.query<{ version: string }>('select version()');
    for (const { claim, use, try: tryOut } of MECHANISMS) {
      try {
        const works = await tryOut({ one, other });
        if (!works) failed.push(`PostgreSQL does not show that ${claim}: ${use}`);
      } catch (error) {
        const said = error instanceof Error ? error.message : String(error);
        if (NOT_TRIED.has(sqlStateOf(error) ?? ''))
          untried.push(`It was not tried whether ${claim}: ${said}`);
        else failed.push(`PostgreSQL does not show that ${claim} (${said}): ${use}`);
      }
    }
    return { failed, untried, foreign: foreignEngine(rows[0]?.version ?? '') };
  } finally {
    for (const client of [one, other]) void client.end();
  }
}

/** Engines of other makers say so in their version, before or behind PostgreSQL's. */
export function foreignEngine(version: string): string | undefined {
  const isOfPostgres = /^PostgreSQL \d+(?:\.\d+|devel|beta\d+|rc\d+)*(?: \([^)]*\))?(?: on |,|$)/;
  return isOfPostgres.test(version) ? undefined : version.slice(0, 80) || 'nothing';
}
