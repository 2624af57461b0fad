import type { GitHubFailure } from '@paddock/github/errors';
import type { Logger } from '@paddock/runtime/logger';
import type { SharedCounters } from '../shared-counters.ts';

/** Events of checking Apps and clocks. */
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
    clocksDiffer(aheadSeconds: number) {
      log.error('PostgreSQL’s clock and ours disagree: set right the one that is wrong', {
        aheadSeconds: Math.round(aheadSeconds),
      });
    },
    instantsMended(rows: Readonly<Record<string, number>>) {
      log.warn('PostgreSQL’s clock was ahead for a time: instants that it left are now', { rows });
    },
    clockNotChecked(error: unknown) {
      log.error('could not look for instants too far ahead; trying again', { error });
    },
  };
}
