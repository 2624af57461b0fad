import type { GitHubFailure } from '@paddock/github/errors';
import type { Logger } from '@paddock/runtime/logger';
import type { SharedCounters } from '../shared-counters.ts';

/** Events of checking Apps. */
export function upkeepEvents(log: Logger, { objectFailed }: SharedCounters) {
  return {
    appChecked(appId: number, found: readonly string[]) {
      for (const problem of found)
        log.error('a GitHub App lacks a permission or an event: change the App at GitHub', {
          appId,
          problem,
        });
    },
    appNotChecked(appId: number, failure: GitHubFailure) {
      objectFailed('check-apps');
      log.warn('could not check a GitHub App', { appId, failure });
    },
    tooManyUnlisted(appId: number, count: number) {
      objectFailed('check-apps');
      log.error('GitHub’s list lacks too many installations of an App: ignored the list', {
        appId,
        missing: count,
      });
    },
  };
}
