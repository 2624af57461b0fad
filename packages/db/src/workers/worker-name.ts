import { WORKER_PREFIX } from '@paddock/domain/workers/worker-name';
import { type Expression, type RawBuilder, sql } from 'kysely';

/** SQL: how the names of one instance's workers begin, as `instancePrefix` of the domain says. */
const prefixOfInstance = (instance: Expression<string>): RawBuilder<string> =>
  sql`${sql.lit(WORKER_PREFIX)} || ${instance} || '-'`;

/** SQL: a new name for a worker, as `workerName` of the domain makes it, with 12 random digits. */
export const newWorkerName = (
  instance: Expression<string>,
  pool: Expression<string>,
): RawBuilder<string> =>
  sql`${prefixOfInstance(instance)} || translate(${pool}, '.', '-') || '-' || left(replace(gen_random_uuid()::text, '-', ''), 12)`;
