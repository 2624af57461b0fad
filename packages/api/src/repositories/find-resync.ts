import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { fullNameOf, repositoryPath } from './repository-path.ts';
import { readResyncState, resyncState } from './resync-state.ts';

export const findResyncEndpoint = endpoint({
  name: 'findResync',
  method: 'GET',
  path: '/api/v1/repositories/{owner}/{repository}/resync',
  summary: 'Tells whether a repository may be resynced, and when it last was.',
  access: 'read',
  status: 200,
  input: z.object(repositoryPath),
  output: resyncState,
  answer: ({ db }, path) => readResyncState(db, fullNameOf(path)),
});
