import { createHash } from 'node:crypto';
import { connectDatabase, type DatabaseOptions } from '@paddock/db/connection/connect';
import type { Db, Trx } from '@paddock/db/schema/tables';
import { CompiledQuery } from 'kysely';
import pg from 'pg';

/**
 * `fresh`: planned for these parameters. `kept`: as PostgreSQL keeps plans of prepared statements.
 * `generic`: planned without parameters.
 */
export type Plans = 'fresh' | 'kept' | 'generic';

/** The cost of one execution of a statement. */
export interface Cost {
  readonly text: string;
  /**
   * Pages read from tables, from indexes, and from temporary files (for data larger than memory).
   */
  readonly buffers: number;
  /** The most rows that one step of its plan has processed, kept or not. */
  readonly rows: number;
  readonly ms: number;
}

export type Measure = (trx: Trx) => Promise<unknown>;

const SETTING: Readonly<Record<Plans, string>> = {
  fresh: 'force_custom_plan',
  kept: 'auto',
  generic: 'force_generic_plan',
};
const IS_STATEMENT = /^\s*(?:\/\*[^*]*\*\/\s*)?(?:with|select|insert|update|delete)\b/i;

/**
 * Opens the one connection on which statements are explained as they run. It rolls back all writes,
 * and each statement finds in memory the pages of the one before. The plans of `kept` live as long
 * as the connection.
 */
export function openExplained(options: Omit<DatabaseOptions, 'poolSize'>) {
  const connection = connectDatabase({ ...options, poolSize: 1 });
  const known = new Set<string>();
  let costs: Cost[] | undefined;
  let plans: Plans = 'fresh';
  let mayWrite = false;
  connection.pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...given: unknown[]) => Promise<pg.QueryResult>;
    const explaining = async (
      text: unknown,
      values: readonly unknown[] = [],
      ...rest: unknown[]
    ) => {
      if (costs !== undefined && typeof text === 'string' && IS_STATEMENT.test(text)) {
        const name = nameOf(text, plans);
        if (!known.has(name)) await query(`prepare ${name} as ${text}`);
        known.add(name);
        if (mayWrite) await query('savepoint before_explain');
        const { rows } = await query(
          `explain (analyze, buffers, timing off, format json) execute ${name}${literalsOf(values)}`,
        );
        if (mayWrite) await query('rollback to savepoint before_explain');
        costs.push({ text, ...costOf(rows[0]) });
      }
      return query(text, values, ...rest);
    };
    client.query = explaining as typeof client.query;
  });

  /** The cost of each statement that `measure` runs, in their order. */
  async function costsOf(how: Plans, isWriting: boolean, measure: () => Promise<unknown>) {
    const measured: Cost[] = [];
    [plans, mayWrite, costs] = [how, isWriting, measured];
    await measure().finally(() => (costs = undefined));
    return measured;
  }

  return {
    close: () => connection.close(),
    async explain(how: Plans, measure: Measure): Promise<Cost[]> {
      const trx = await connection.db.startTransaction().execute();
      try {
        await trx.executeQuery(CompiledQuery.raw(`set local plan_cache_mode = ${SETTING[how]}`));
        return await costsOf(how, true, () => measure(trx));
      } finally {
        await trx.rollback().execute();
      }
    },
    /** The same of what only reads, maybe in transactions of its own; planned for its values. */
    async explainReading(measure: (db: Db) => Promise<unknown>): Promise<Cost[]> {
      const { db } = connection;
      await db.executeQuery(CompiledQuery.raw(`set plan_cache_mode = ${SETTING.fresh}`));
      return costsOf('fresh', false, () => measure(db));
    },
  };
}

const nameOf = (text: string, plans: Plans): string =>
  `${plans}_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;

const literalsOf = (values: readonly unknown[]): string =>
  values.length === 0 ? '' : `(${values.map(literalOf).join(', ')})`;

function literalOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value))
    return pg.escapeLiteral(`{${value.map((each) => JSON.stringify(String(each))).join(',')}}`);
  if (value instanceof Date) return pg.escapeLiteral(value.toISOString());
  if (Buffer.isBuffer(value)) return pg.escapeLiteral(`\\x${value.toString('hex')}`);
  return pg.escapeLiteral(typeof value === 'string' ? value : JSON.stringify(value));
}

type Buffers = Readonly<
  Record<
    'Shared Hit Blocks' | 'Shared Read Blocks' | 'Temp Read Blocks' | 'Temp Written Blocks',
    number
  >
>;

interface Step {
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly Plans?: readonly Step[];
}

function costOf(row: {
  'QUERY PLAN': [{ readonly Plan: Step & Buffers; readonly 'Execution Time': number }];
}): Omit<Cost, 'text'> {
  const [{ Plan: plan, 'Execution Time': ms }] = row['QUERY PLAN'];
  const buffers =
    plan['Shared Hit Blocks'] +
    plan['Shared Read Blocks'] +
    plan['Temp Read Blocks'] +
    plan['Temp Written Blocks'];
  return { buffers, rows: mostRows(plan), ms };
}

function mostRows(step: Step): number {
  const perLoop =
    step['Actual Rows'] +
    (step['Rows Removed by Filter'] ?? 0) +
    (step['Rows Removed by Join Filter'] ?? 0);
  return Math.max(perLoop * step['Actual Loops'], ...(step.Plans ?? []).map(mostRows));
}
