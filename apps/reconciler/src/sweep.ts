import { hasMissed, notePass } from '@paddock/db/schedules/sweep-states';
import type { Db } from '@paddock/db/schema/tables';
import { findSwitchOfSweep, type Switch } from '@paddock/db/switches';
import { DELETING_SWEEPS, SWEEP_ATTEMPTS } from '@paddock/domain/tasks/sweep-names';
import type { GitHub } from '@paddock/github/connect';
import type { DeliveryPage } from '@paddock/github/deliveries';
import { classifyGitHubError } from '@paddock/github/errors';
import type { Cluster } from '@paddock/kube/connect';
import type { ExecutorEvents } from '@paddock/queue/executor-events';
import {
  done,
  type Handler,
  type Kind,
  type Kinds,
  type Outcome,
  poison,
  snooze,
  type Task,
} from '@paddock/queue/kind';
import type { Service } from '@paddock/runtime/reach';
import type { ReconcilerConfig } from './settings.ts';
import type { ReconcilerEvents } from './events.ts';
import { beginPass, type Pass, type PassEnd } from './passes/pass.ts';
import type { readCollector } from './traces/collector.ts';
import { scheduleOf } from '@paddock/queue/sweep-schedules';

/** The dependencies of all sweeps. */
export interface SweepContext {
  readonly db: Db;
  readonly github: GitHub;
  readonly cluster: Cluster;
  readonly config: ReconcilerConfig;
  readonly events: ReconcilerEvents;
  /** Our own probe: whether GitHub or the cluster is away. */
  readonly isAway: (service: Service) => Promise<boolean>;
  /** Deliveries are read from GitHub's log (`intake`), not asked for again. */
  readonly takesFromLog: () => boolean;
  /** The newest page of each App's log, as this process read it last. */
  readonly newestPages: Map<number, DeliveryPage>;
  /** The webhook of notifications as configured now, or why it cannot be used; undefined: none is. */
  readonly webhook: () => { readonly url: URL } | { readonly problem: string } | undefined;
  /** Where traces go, or why they cannot. */
  readonly collector: ReturnType<typeof readCollector>;
  readonly taskEvents: Pick<ExecutorEvents, 'taskCrashed'>;
}

/** A check of the reconciler, as a kind of task. A pass's counts become its operation's output. */
export interface Sweep extends Omit<Kind, 'handler'> {
  readonly pass: (context: SweepContext, pass: Pass) => Promise<Outcome>;
}

/** A pass that an outage ended goes on after this long. */
const AFTER_OUTAGE_MS = 5_000;

/**
 * The sweeps as kinds of tasks. A pass reads its switch before it starts, and every `switchCheckMs`
 * while it runs. Once a person holds it back, the task ends as done, and its output says who. A pass
 * that an outage or its share of time ended is followed by another, which goes on there. A pass has
 * succeeded, which is noted with its schedule, if no outage ended it and it missed no entity for the
 * second time running. The payload `{ "dryRun": true }` makes a dry run of a sweep that deletes, which
 * ignores switches.
 */
export const kindsOf = (
  context: SweepContext,
  sweeps: Readonly<Record<string, Sweep>>,
  switchCheckMs = 2_000,
): Kinds =>
  Object.fromEntries(
    Object.entries(sweeps).map(([name, { pass, ...kind }]) => [
      name,
      { ...kind, handler: handlerOf(name, pass, { ...context, switchCheckMs }) },
    ]),
  );

const handlerOf =
  (
    name: string,
    run: Sweep['pass'],
    context: SweepContext & { readonly switchCheckMs: number },
  ): Handler =>
  async (task, signal) => {
    const { db, isAway, events } = context;
    const onUnusable = events.answerUnusable.bind(undefined, name);
    const dryRun = isDryRun(task.payload);
    const schedule = scheduleOf(task);
    const begin = (stop: AbortSignal) =>
      beginPass({ db, isAway, onUnusable, schedule, task, signal: stop, dryRun });
    if (dryRun && !DELETING_SWEEPS.has(name)) return poison(`${name} has no dry run`);
    if (dryRun) {
      const outcome = await run(context, (await begin(signal)).pass);
      return outcome.outcome === 'done'
        ? done(Object.assign({ dryRun: true }, outcome.output))
        : outcome;
    }
    const { outcome, heldBy } = await unlessHeld(
      () => findSwitchOfSweep(db, name, task.subject.id),
      context.switchCheckMs,
      async (held) => {
        const stop = AbortSignal.any([signal, held]);
        const { pass, end } = await begin(stop);
        const ended = await run(context, pass).catch(untilAllowed);
        const { endedBy, memory } = end();
        const isDone = ended.outcome === 'done';
        const isSuccess = isDone && !stop.aborted && endedBy !== 'away' && !hasMissed(memory);
        await notePass(db, schedule, { memory, isSuccess, task });
        return isDone ? goOn(ended, endedBy, task) : ended;
      },
    );
    if (outcome.outcome !== 'done' || heldBy === undefined) return outcome;
    const { subject: paused, by: pausedBy, since: pausedAt } = heldBy;
    return done(Object.assign({ paused, pausedBy, pausedAt }, outcome.output));
  };

/** A pass that ended early is followed by another, after an outage in a moment. */
function goOn(
  { output, followOn }: Extract<Outcome, { outcome: 'done' }>,
  endedBy: PassEnd['endedBy'],
  { kind, subject: { type, id }, payload }: Task,
): Outcome {
  if (endedBy === undefined || endedBy === 'stopped') return done(output, followOn);
  const dueInMs = endedBy === 'away' ? AFTER_OUTAGE_MS : 0;
  const again = { kind, subject: { type, id }, payload, maxAttempts: SWEEP_ATTEMPTS, dueInMs };
  return done(output, [again, ...followOn]);
}

/** If GitHub asked the pass to wait, repeats the pass when GitHub allows it. Rethrows other errors. */
function untilAllowed(error: unknown): Outcome {
  const { kind, retryAfterMs, message } = classifyGitHubError(error);
  if (kind !== 'rate_limited' && retryAfterMs === undefined) throw error;
  return snooze(retryAfterMs ?? 0, message);
}

/**
 * Runs a pass unless a switch holds it back, and aborts its signal once one does, as when the
 * process stops. If the switches cannot be read, aborts the pass too, and rejects with PostgreSQL's
 * error.
 */
async function unlessHeld(
  findSwitch: () => Promise<Switch | undefined>,
  everyMs: number,
  pass: (stop: AbortSignal) => Promise<Outcome>,
): Promise<{ readonly outcome: Outcome; readonly heldBy: Switch | undefined }> {
  let heldBy = await findSwitch();
  if (heldBy !== undefined) return { outcome: done(), heldBy };
  const stop = new AbortController();
  const check = async () => {
    heldBy ??= await findSwitch();
    if (heldBy !== undefined) stop.abort(new Error(`${heldBy.by} paused ${heldBy.subject}.`));
  };
  const timer = setInterval(() => {
    check().catch((error: unknown) => stop.abort(error));
  }, everyMs);
  let outcome: Outcome = done();
  try {
    outcome = await pass(stop.signal);
  } catch (error) {
    if (error !== stop.signal.reason || heldBy === undefined) throw error;
  } finally {
    clearInterval(timer);
  }
  if (heldBy === undefined) stop.signal.throwIfAborted();
  return { outcome, heldBy };
}

const isDryRun = (payload: object): boolean => 'dryRun' in payload && payload.dryRun === true;
