import { createChangeStreams } from '../changes/changes.ts';
import { createCredentialOf } from '../credential.ts';

/** For a listener of the API alone. */
export const NO_PAGE = {
  streams: createChangeStreams({
    look: () => Promise.reject(new Error('nobody looks')),
    listPools: () => Promise.resolve([]),
    lookEveryMs: 2_000,
    onFirst: () => undefined,
  }),
  page: undefined,
  answerSignIn: undefined,
  prefix: '',
};

/** Without an identity provider or a proxy. */
export const TOKENS_ALONE = createCredentialOf({
  accessOf: () => undefined,
  proxiedIdentity: () => undefined,
});
