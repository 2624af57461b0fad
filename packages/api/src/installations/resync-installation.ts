import { DISCOVER_JOBS } from '@paddock/domain/tasks/sweep-names';
import { z } from 'zod';
import { githubId } from '../lists/whole.ts';
import { note } from '../actions/act.ts';
import { endpoint } from '../endpoint.ts';
import { operation } from '../operations/operation.ts';
import { startSweep } from '../operations/start-sweep.ts';
import { notFound, refused } from '../problem.ts';
import { findInstallation } from './list-installations.ts';

export const resyncInstallationEndpoint = endpoint({
  name: 'resyncInstallation',
  method: 'POST',
  path: '/api/v1/installations/{installation}/resync',
  summary: 'Has discovery read the active repositories of an installation anew, and first.',
  access: 'operate',
  status: 202,
  input: z.object({ installation: githubId(), note }),
  output: operation,
  answer(caller, { installation, note: why }) {
    const request = { endpoint: 'resyncInstallation', subject: { installation }, note: why };
    return startSweep(caller, request, async (trx) => {
      const found = await findInstallation(trx, installation);
      if (found === undefined) throw notFound('There is no installation of this id.');
      if (found.state !== 'installed')
        throw refused('The installation is suspended or was removed.');
      const subject = { type: 'installation', id: String(installation), name: found.entity.login };
      return { kind: DISCOVER_JOBS, subject };
    });
  },
});
