import { lockFailed, noteHandled } from '@paddock/queue/handle-failed';
import { record } from '../actions/act.ts';
import { endpoint } from '../endpoint.ts';
import { failedInput, failedOutput, failedSubject, MOST_AT_ONCE } from './failed-filter.ts';

export const discardFailedOperationsEndpoint = endpoint({
  name: 'discardFailedOperations',
  method: 'POST',
  path: '/api/v1/failed-operations/discard',
  summary: 'Takes the failed operations that fit off their list, the newest first.',
  access: 'operate',
  status: 200,
  input: failedInput,
  output: failedOutput,
  answer: (caller, { dryRun, note, ...filter }) =>
    caller.db.transaction().execute(async (trx) => {
      const failed = await lockFailed(trx, filter, MOST_AT_ONCE + 1);
      const discarded = failed.slice(0, MOST_AT_ONCE).map(({ id }) => ({ id, retriedAs: null }));
      if (!dryRun && discarded.length > 0) {
        await noteHandled(trx, discarded, caller.person);
        const subject = { ...failedSubject(filter), operations: discarded.length };
        await record(trx, caller, { endpoint: 'discardFailedOperations', subject, note });
      }
      return {
        operations: discarded.length,
        paused: 0,
        dryRun,
        more: failed.length > MOST_AT_ONCE,
      };
    }),
});
