import type { Database } from '@paddock/db/schema/tables';
import { DISCOVER_JOBS } from '@paddock/domain/tasks/sweep-names';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { note } from '../actions/act.ts';
import { endpoint } from '../endpoint.ts';
import { operation } from '../operations/operation.ts';
import { startSweep } from '../operations/start-sweep.ts';
import { notFound, refused } from '../problem.ts';
import { fullNameOf, repositoryPath } from './repository-path.ts';

export const resyncRepositoryEndpoint = endpoint({
  name: 'resyncRepository',
  method: 'POST',
  path: '/api/v1/repositories/{owner}/{repository}/resync',
  summary: 'Compares all unfinished runs of a repository at GitHub with our jobs.',
  access: 'operate',
  status: 202,
  input: z.object({ ...repositoryPath, note }),
  output: operation,
  async answer(caller, { note: why, ...path }) {
    const fullName = fullNameOf(path);
    const request = { endpoint: 'resyncRepository', subject: path, note: why };
    return startSweep(caller, request, async (trx) => {
      const owner = await findOwner(trx, path.owner);
      if (owner === undefined)
        throw notFound(`None of our Apps was ever installed on ${path.owner}.`);
      if (!owner.isUsable)
        throw refused(`The installation on ${path.owner} is suspended or was removed.`);
      return { kind: DISCOVER_JOBS, subject: { type: 'repository', id: fullName } };
    });
  },
});

/** Whether any App may be used on the entity with this login now. Undefined: none ever was. */
export async function findOwner(
  db: Kysely<Database>,
  login: string,
): Promise<{ isUsable: boolean } | undefined> {
  const { rows } = await sql<{ isUsable: boolean | null }>`
    select bool_or(suspended_at is null and deleted_at is null) as "isUsable" from installations
    where lower(login) = lower(${login})`.execute(db);
  const isUsable = rows[0]?.isUsable ?? null;
  return isUsable === null ? undefined : { isUsable };
}
