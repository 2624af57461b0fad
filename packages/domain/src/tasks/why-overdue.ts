/** What is known of a sweep's passes since one last ended well, in seconds until now. */
export interface PassesSinceSuccess {
  readonly secondsSinceTick: number;
  readonly pausedBy: string | null;
  readonly runningSeconds: number | null;
  readonly dueSeconds: number | null;
  readonly retryMessage: string | null;
  readonly failureMessage: string | null;
}

/** This many cadences without a success are no accident. */
const CADENCES = 3;

/** One pass may take as long as a task may, however short its cadence. */
const PASS_SECONDS = 300;

/** Whether a sweep has gone so long without a success that people should know. */
export const isOverdue = (secondsSinceSuccess: number, everySeconds: number): boolean =>
  secondsSinceSuccess > CADENCES * everySeconds + PASS_SECONDS;

/** Why a sweep has not succeeded, as a sentence: what stands in the way now, before what was said earlier. */
export function whyOverdue(passes: PassesSinceSuccess, everySeconds: number): string {
  const { secondsSinceTick, pausedBy, runningSeconds, dueSeconds, retryMessage, failureMessage } = passes;
  const said = retryMessage ?? failureMessage;
  if (pausedBy !== null) return `it was paused by ${pausedBy}`;
  if (said !== null) return `its last pass failed: ${said}`;
  if (runningSeconds !== null) return `a pass has been running for ${Math.round(runningSeconds)} s`;
  if (dueSeconds !== null && dueSeconds > everySeconds)
    return `its task is due, and no executor has taken it for ${Math.round(dueSeconds)} s`;
  if (secondsSinceTick > CADENCES * everySeconds) return `no replica has taken a tick of it for ${Math.round(secondsSinceTick)} s`;
  return 'its passes end without a result';
}
