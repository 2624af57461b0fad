import { createChangeStreams } from '../changes/changes.ts';

/** For a listener of the API alone. */
export const NO_PAGE = {
  streams: createChangeStreams({
    look: () => Promise.reject(new Error('nobody looks')),
    listPools: () => Promise.resolve([]),
    onFirst: () => undefined,
  }),
  page: undefined,
  prefix: '',
};
