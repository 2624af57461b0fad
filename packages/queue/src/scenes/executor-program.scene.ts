import { once } from 'node:events';
import { clientConfig, connectDatabase } from '@paddock/db/connection/connect';
import { createLogger } from '@paddock/runtime/logger';
import { main, run } from '@paddock/runtime/run';
import { sql } from 'kysely';
import { createExecutor } from '../executor.ts';
import type { ExecutorEvents, TaskIdentity } from '../executor-events.ts';
import type { ExecutorRules } from '../executor-settings.ts';
import { done, type Handler } from '../kind.ts';

/** The program's options, as JSON in its first argument. */
export interface ExecutorProgramOptions {
  /** Its executors are called `name-1`, `name-2` and so on. */
  readonly name: string;
  readonly url: string;
  readonly schema: string;
  readonly executors: number;
  /** Slots of each executor. */
  readonly slots: { readonly count: number; readonly hold: number };
  readonly rules: ExecutorRules;
}

/** The payload of a task of the kind `hold`. */
interface HoldPayload {
  /** The handler ignores its signal. */
  readonly deaf?: boolean;
  /** The handler touches no table. */
  readonly effect?: boolean;
}

/** The program's reports to its parent. */
export interface Said {
  readonly what:
    | 'ready'
    | 'began'
    | 'aborted'
    | 'stopping'
    | 'processed'
    | 'released'
    | 'lost'
    | 'taken over'
    | 'ended by crashes'
    | 'failed';
  readonly holder?: string;
  readonly subject?: string;
  readonly attempt?: number;
  readonly crashes?: number;
  /** The outcome of a run, why it was released, or which step failed. */
  readonly detail?: string;
}

/** Executors in a separate process, stopped by signals as a service is. Ends with its parent. */
await main(async () => {
  const { name, url, schema, executors, slots, rules } = JSON.parse(
    process.argv[2] ?? '',
  ) as ExecutorProgramOptions;
  const connection = connectDatabase({ url, schema, poolSize: 8, applicationName: name });
  const { db } = connection;
  const opened = new Set<string>();
  const gates = new EventTarget();
  process.on('message', (subject: string) => {
    opened.add(subject);
    gates.dispatchEvent(new Event(subject));
  });
  process.on('disconnect', () => process.exit(1));

  /** No two rows for one task, unless it has run twice. */
  const count =
    (holder: string): Handler =>
    async ({ id, subject, fence }) => {
      await sql`insert into effects (task_id, subject, holder, fence) values (${id}, ${subject.id}, ${holder}, ${fence})`.execute(
        db,
      );
      return done({ by: holder });
    };

  /**
   * Runs until the parent opens the gate of its subject, and takes effect then, if it still has the
   * task.
   */
  const hold =
    (holder: string): Handler =>
    async ({ id, subject, fence, attempt, crashes, payload }, signal) => {
      const { deaf = false, effect = true } = payload as HoldPayload;
      const whose = { holder, subject: subject.id, attempt, crashes };
      say({ what: 'began', ...whose });
      signal.addEventListener('abort', () => say({ what: 'aborted', ...whose }));
      if (!opened.has(subject.id)) await once(gates, subject.id, deaf ? {} : { signal });
      if (effect) {
        await sql`insert into effects (task_id, subject, holder, fence)
                  select id, subject_id, ${holder}, fence from tasks
                  where id = ${id} and fence = ${fence} and locked_by = ${holder}`.execute(db);
      }
      return done({ by: holder });
    };

  const names = Array.from({ length: executors }, (_, n) => `${name}-${n + 1}`);
  const services = names.map((holder) => {
    const executor = createExecutor({
      ...rules,
      connection,
      config: clientConfig({ url, schema, applicationName: `${holder}-own` }),
      schema,
      holder,
      kinds: {
        count: { handler: count(holder), slots: slots.count },
        hold: { handler: hold(holder), slots: slots.hold },
      },
      events: eventsOf(holder),
    });
    return [holder, executor.run] as const;
  });
  await run(
    { ...Object.fromEntries(services), announce },
    { graceMs: 30_000, log: createLogger(name, 'error') },
  );
  await connection.close();
  process.removeAllListeners('disconnect');
  process.disconnect?.();
});

async function announce(signal: AbortSignal): Promise<void> {
  say({ what: 'ready' });
  await once(signal, 'abort');
  say({ what: 'stopping' });
}

function say(said: Said): void {
  process.send?.(said);
}

function eventsOf(holder: string): ExecutorEvents {
  const tell = (what: Said['what'], task: TaskIdentity, detail?: string) => {
    const { subject, attempt, crashes } = task;
    say({ what, holder, subject: subject.id, attempt, crashes, ...(detail && { detail }) });
  };
  return {
    tasksInFlight: () => undefined,
    taskProcessed: (task, outcome) => tell('processed', task, outcome),
    taskReleased: (task, why) => tell('released', task, why),
    taskLost: (task) => tell('lost', task),
    taskTakenOver: (task) => tell('taken over', task),
    taskCrashed: (task) => tell('ended by crashes', task),
    executorFailed: (step) => say({ what: 'failed', holder, detail: step }),
  };
}
