import { pauseOfSubject, pauseSweep, resumeSweep } from '@paddock/db/schedules/paused-sweeps';
import { RESYNC_REPOSITORY } from '@paddock/domain/tasks/sweep-names';
import { z } from 'zod';
import { act, note } from '../actions/act.ts';
import { endpoint } from '../endpoint.ts';
import { fullNameOf, repositoryPath } from './repository-path.ts';
import { readResyncState, resyncState } from './resync-state.ts';

export const switchResyncEndpoint = endpoint({
  name: 'switchResync',
  method: 'PUT',
  path: '/api/v1/repositories/{owner}/{repository}/resync',
  summary: 'Allows or forbids resyncs of a repository. One that runs ends within seconds.',
  access: 'operate',
  status: 200,
  input: z.object({ ...repositoryPath, enabled: z.boolean(), note }),
  output: resyncState,
  answer(caller, { enabled, note: why, ...path }) {
    const fullName = fullNameOf(path);
    const subject = { ...path, enabled: String(enabled) };
    return act(caller, { endpoint: 'switchResync', subject, note: why }, async (trx) => {
      const name = pauseOfSubject(RESYNC_REPOSITORY, fullName);
      await (enabled ? resumeSweep(trx, name) : pauseSweep(trx, name, caller.person, why));
      return readResyncState(trx, fullName);
    });
  },
});
