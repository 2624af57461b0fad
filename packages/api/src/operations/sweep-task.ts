import type { AskedTask } from '@paddock/queue/enqueue-asked';
import { z } from 'zod';

/** The input `dryRun` of who starts a sweep. */
export const dryRun = z
  .boolean()
  .default(false)
  .describe('Only count what it would do. Also while the sweep is paused');

/**
 * A sweep's task as a dry run: a subject of its own, because a kind and subject have one queued task,
 * and a dry run must not take the place of a real one.
 */
export const asDryRun = (task: Omit<AskedTask, 'requestedBy'>): Omit<AskedTask, 'requestedBy'> => ({
  ...task,
  subject: { type: 'dry-run', id: task.subject.id },
  payload: Object.assign({ dryRun: true }, task.payload),
});
