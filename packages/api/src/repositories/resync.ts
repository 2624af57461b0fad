import type { Db } from '@paddock/db/schema/tables';
import { DISCOVER_JOBS } from '@paddock/domain/tasks/sweep-names';
import { sql } from 'kysely';
import { z } from 'zod';
import { note } from '../actions/list-actions.ts';
import { endpoint } from '../endpoint.ts';
import { operation } from '../operations/operation.ts';
import { startSweep } from '../operations/start-operation.ts';
import { notFound, refused } from '../problem.ts';

const name = z
  .string()
  .max(100)
  .regex(/^[\w.-]+$/, 'must be a name at GitHub')
  .toLowerCase();

/** The inputs of a path that names a repository, in small letters: GitHub ignores the case. */
export const repositoryPath = { owner: name, repository: name };

/** As subjects of operations name it. */
export const fullNameOf = ({ owner, repository }: { owner: string; repository: string }): string =>
  `${owner}/${repository}`;

export const resyncRepositoryEndpoint = endpoint({
  name: 'resyncRepository',
  method: 'POST',
  path: '/api/v1/repositories/{owner}/{repository}/resync',
  summary: 'Compares all unfinished runs of a repository at GitHub with our jobs.',
  status: 202,
  input: z.object({ ...repositoryPath, note }),
  output: operation,
  answer: (caller, path, request) =>
    startSweep(caller, request, async (trx) => {
      const owner = await findOwner(trx, path.owner);
      if (owner === undefined)
        throw notFound(`None of our Apps was ever installed on ${path.owner}.`);
      if (!owner.isUsable)
        throw refused(`The installation on ${path.owner} is suspended or was removed.`);
      return { kind: DISCOVER_JOBS, subject: { type: 'repository', id: fullNameOf(path) } };
    }),
});

/** Whether any App may be used on the entity with this login now. Undefined: none ever was. */
async function findOwner(db: Db, login: string): Promise<{ isUsable: boolean } | undefined> {
  const rows = await db
    .selectFrom('installations')
    .select(['suspended_at', 'deleted_at'])
    .where(sql<boolean>`lower(login) = lower(${login})`)
    .execute();
  const isUsable = rows.some((row) => row.suspended_at === null && row.deleted_at === null);
  return rows.length === 0 ? undefined : { isUsable };
}
