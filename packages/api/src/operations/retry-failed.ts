import { lockFailed, type Handled, noteHandled } from '@paddock/queue/handle-failed';
import { record } from '../actions/act.ts';
import { endpoint } from '../endpoint.ts';
import { failedInput, failedOutput, failedSubject, MOST_AT_ONCE } from './failed-filter.ts';
import { isPaused, repeatFailed } from './repeat-failed.ts';

export const retryFailedOperationsEndpoint = endpoint({
  name: 'retryFailedOperations',
  method: 'POST',
  path: '/api/v1/failed-operations/retry',
  summary: 'Repeats the failed operations that fit, the newest first, each as a new one.',
  access: 'operate',
  status: 200,
  input: failedInput,
  output: failedOutput,
  answer: (caller, { dryRun, note, ...filter }) =>
    caller.db.transaction().execute(async (trx) => {
      const failed = await lockFailed(trx, filter, MOST_AT_ONCE + 1);
      const request = {
        endpoint: 'retryFailedOperations',
        subject: failedSubject(filter),
        note,
      };
      const handled: Handled[] = [];
      let paused = 0;
      for (const one of failed.slice(0, MOST_AT_ONCE)) {
        if (await isPaused(trx, one)) paused += 1;
        else if (dryRun) handled.push({ id: one.id, retriedAs: null });
        else {
          const retriedAs = await repeatFailed(trx, one, caller.person);
          handled.push({ id: one.id, retriedAs });
          // Each has its row: the new operation's askers are read there.
          await record(trx, caller, request, retriedAs);
        }
      }
      if (!dryRun) await noteHandled(trx, handled, caller.person);
      return { operations: handled.length, paused, dryRun, more: failed.length > MOST_AT_ONCE };
    }),
});
