import { jsonText } from '@paddock/domain/text/storable';
import type { NewTask } from './enqueue.ts';
import type { Outcome, Task } from './kind.ts';
import { messageOf, storedMessage } from './mask-secrets.ts';
import type { FailureKind, FailureReason } from './operations.ts';
import type { RunResult } from './run-handler.ts';

/** The end of a task. `processed` is the metric's outcome. */
export type EndSettlement =
  | {
      readonly to: 'ok';
      readonly processed: 'ok';
      /** JSON text. */
      readonly output?: string;
      readonly followOn: readonly NewTask[];
    }
  | {
      readonly to: 'failed';
      readonly processed: 'failed' | 'poison';
      readonly reason: FailureReason;
      readonly message: string;
    };

/** What becomes of a task after a run. */
export type Settlement =
  | EndSettlement
  | {
      readonly to: 'queued';
      readonly processed: 'retry' | 'snoozed' | 'released';
      /** How long until the next run, in milliseconds. */
      readonly delayMs: number;
      /** Only an error or a timeout makes the run an attempt. */
      readonly failure?: { readonly reason: FailureKind; readonly message: string };
    };

export interface SettlementRules {
  readonly backoff: Backoff;
  readonly mask: (text: string) => string;
  /** Gives [0, 1). */
  readonly random: () => number;
  readonly timeoutMs: number;
}

type Attempt = Pick<Task, 'attempt' | 'maxAttempts' | 'deliveryGuid'>;

/** Decides what becomes of a task. Pure but for `random`. */
export function decideSettlement(
  task: Attempt,
  result: RunResult,
  rules: SettlementRules,
): Settlement {
  switch (result.ended) {
    case 'outcome':
      try {
        return ofOutcome(task, result.outcome, rules);
      } catch (error) {
        return failedRun(task, 'error', messageOf(error), rules);
      }
    case 'thrown':
      return failedRun(task, 'error', messageOf(result.thrown), rules);
    case 'interrupted':
      return result.by === 'timeout'
        ? failedRun(task, 'timeout', `the run took longer than its ${rules.timeoutMs} ms`, rules)
        : { to: 'queued', processed: 'released', delayMs: 0 };
    default:
      return result satisfies never;
  }
}

function ofOutcome(task: Attempt, outcome: Outcome, { mask }: SettlementRules): Settlement {
  switch (outcome?.outcome) {
    case 'done': {
      const followOn = outcome.followOn.map((next) => inherit(next, task.deliveryGuid));
      const output = outcome.output === undefined ? {} : { output: jsonText(outcome.output, mask) };
      return { to: 'ok', processed: 'ok', followOn, ...output };
    }
    case 'snooze': {
      const { delayMs, reason } = outcome;
      if (!Number.isFinite(delayMs))
        throw new TypeError(`the handler asked for a snooze of ${delayMs} ms: ${reason}`);
      const failure = { reason: 'snooze', message: storedMessage(reason, mask) } as const;
      return { to: 'queued', processed: 'snoozed', delayMs: Math.max(delayMs, 0), failure };
    }
    case 'poison': {
      const message = storedMessage(outcome.reason, mask);
      return { to: 'failed', processed: 'poison', reason: 'poison', message };
    }
    default:
      outcome satisfies never;
      // The types forbid it, but a handler without an outcome must not stop the executor.
      throw new TypeError(
        'the handler returned no outcome: it must return done(), snooze() or poison()',
      );
  }
}

/** A follow-on inherits its parent's delivery. */
const inherit = (next: NewTask, deliveryGuid: string | null): NewTask =>
  next.deliveryGuid !== undefined || deliveryGuid === null ? next : { ...next, deliveryGuid };

/** After a failure that may pass: try again later, or end if it was the last attempt. */
export function failedRun(
  task: Attempt,
  kind: 'error' | 'timeout',
  text: string,
  rules: Omit<SettlementRules, 'timeoutMs'>,
): Settlement {
  const message = storedMessage(text, rules.mask);
  if (task.attempt >= task.maxAttempts) {
    const reason = kind === 'timeout' ? 'timeout' : 'attempts';
    return { to: 'failed', processed: 'failed', reason, message };
  }
  const delayMs = backoffMs(task.attempt, rules.backoff, rules.random);
  return { to: 'queued', processed: 'retry', delayMs, failure: { reason: kind, message } };
}

export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
}

const JITTER = 0.2;

/**
 * How long a task waits after its `attempt`-th failed run, in milliseconds. Each failure doubles
 * the wait, up to the longest. The jitter keeps tasks that failed together from returning together.
 * `random` gives [0, 1).
 */
export function backoffMs(
  attempt: number,
  { firstMs, longestMs }: Backoff,
  random: () => number,
): number {
  const exact = Math.min(firstMs * 2 ** (Math.max(attempt, 1) - 1), longestMs);
  return Math.round(exact * (1 - JITTER + 2 * JITTER * random()));
}
