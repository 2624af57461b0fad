import { findOwner } from '@paddock/db/people/find-by-name';
import { DISCOVER_JOBS } from '@paddock/domain/tasks/sweep-names';
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
