import { findResyncedAt } from '@paddock/db/people/find-by-name';
import { DISCOVER_JOBS } from '@paddock/domain/tasks/sweep-names';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { readSwitch, switchState } from '../switches/switch.ts';
import { fullNameOf, repositoryPath } from './repository-path.ts';

export const findResyncEndpoint = endpoint({
  name: 'findResync',
  method: 'GET',
  path: '/api/v1/repositories/{owner}/{repository}/resync',
  summary: 'Tells whether a repository may be resynced, and when it last was.',
  access: 'read',
  status: 200,
  input: z.object(repositoryPath),
  output: switchState.extend({
    finishedAt: z.iso
      .datetime()
      .nullable()
      .describe(
        'When a resync last ended well; null: never since Paddock has known the repository',
      ),
  }),
  async answer({ db }, path) {
    const fullName = fullNameOf(path);
    const finishedAt = await findResyncedAt(db, fullName);
    const state = await readSwitch(db, `${DISCOVER_JOBS}:${fullName}`);
    return { ...state, finishedAt: finishedAt?.toISOString() ?? null };
  },
});
