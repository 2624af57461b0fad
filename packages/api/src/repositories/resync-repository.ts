import { findOwner } from '@paddock/db/people/find-by-name';
import { RESYNC_REPOSITORY } from '@paddock/domain/tasks/sweep-names';
import { z } from 'zod';
import { note } from '../actions/act.ts';
import { endpoint } from '../endpoint.ts';
import { operation } from '../operations/operation.ts';
import { requireUnpaused, startOperation } from '../operations/start-operation.ts';
import { asDryRun, dryRun } from '../operations/sweep-task.ts';
import { notFound, refused } from '../problem.ts';
import { fullNameOf, repositoryPath } from './repository-path.ts';

export const resyncRepositoryEndpoint = endpoint({
  name: 'resyncRepository',
  method: 'POST',
  path: '/api/v1/repositories/{owner}/{repository}/resync',
  summary: 'Compares all unfinished runs of a repository at GitHub with our jobs.',
  access: 'operate',
  status: 202,
  input: z.object({ ...repositoryPath, dryRun, note }),
  output: operation,
  async answer(caller, { dryRun: onlyCounts, note: why, ...path }) {
    const fullName = fullNameOf(path);
    const request = { endpoint: 'resyncRepository', subject: path, note: why };
    return startOperation(caller, request, async (trx) => {
      const owner = await findOwner(trx, path.owner);
      if (owner === undefined)
        throw notFound(`None of our Apps was ever installed on ${path.owner}.`);
      if (!owner.isUsable)
        throw refused(`The installation on ${path.owner} is suspended or was removed.`);
      const task = { kind: RESYNC_REPOSITORY, subject: { type: 'repository', id: fullName } };
      if (onlyCounts) return asDryRun(task);
      await requireUnpaused(trx, task.kind, fullName);
      return task;
    });
  },
});
