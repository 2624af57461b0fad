import type { ExecutorEvents, TaskIdentity } from './executor-events.ts';
import type { HeldTask } from './held-tasks.ts';
import type { RunResult } from './run-handler.ts';
import type { Task } from './task.ts';
import type { ClaimSettlement } from './write-settlements.ts';

/** A run that has ended, with its settlement. */
export interface Finished extends ClaimSettlement {
  readonly held: HeldTask;
  readonly result: RunResult;
}

export const identityOf = ({
  id,
  kind,
  subject,
  attempt,
  crashes,
  deliveryGuid,
}: Task): TaskIdentity => ({
  id,
  kind,
  subject: { type: subject.type, id: subject.id },
  attempt,
  crashes,
  deliveryGuid,
});

/** Reports the end of a run. `ours` is false where another executor had claimed its task. */
export function reportSettled(
  events: ExecutorEvents,
  { held, settlement, result }: Finished,
  ours: boolean,
): void {
  const task = identityOf(held.task);
  if (!ours) {
    events.taskLost(task);
    return;
  }
  if (settlement.processed === 'released') {
    events.taskReleased(
      task,
      result.ended === 'interrupted' && result.by === 'stopping' ? 'stopping' : 'claim-lost',
    );
    return;
  }
  const { processed } = settlement;
  const durationMs = Math.round((held.endedAt ?? performance.now()) - held.startedAt);
  switch (settlement.to) {
    case 'ok':
      return events.taskProcessed(task, processed, { durationMs });
    case 'failed': {
      const { reason, message } = settlement;
      return events.taskProcessed(task, processed, { durationMs, reason, message });
    }
    case 'queued': {
      const { delayMs: dueInMs, failure } = settlement;
      const message = failure && { message: failure.message };
      return events.taskProcessed(task, processed, { durationMs, dueInMs, ...message });
    }
    default:
      return settlement satisfies never;
  }
}
