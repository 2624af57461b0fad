import type { Database } from '@paddock/db/schema/tables';
import type { Secret } from '@paddock/runtime/secret';
import type { Kysely } from 'kysely';
import { type Backoff, decideSettlement } from '../decide-settlement.ts';
import { claimTasks, shareLeft, taskOf } from '../claim-tasks.ts';
import { maskSecrets } from '../mask-secrets.ts';
import { type Keep, writeSettlements } from '../write-settlements.ts';
import type { Kinds } from '../kind.ts';
import { runHandler } from '../run-handler.ts';

export interface RunOptions {
  readonly db: Kysely<Database>;
  readonly kinds: Kinds;
  readonly holder?: string;
  /** How long a claim lasts. No run may take longer: nothing renews it. */
  readonly claimMs?: number;
  readonly timeoutMs?: number;
  readonly backoff?: Backoff;
  readonly keep?: Keep;
  readonly secrets?: readonly Secret[];
  /** Gives [0, 1). */
  readonly random?: () => number;
  /** More runs than this mean that tasks enqueue each other for ever. */
  readonly maxRuns?: number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/**
 * Runs due tasks and their follow-ons until none is due. Returns the number of runs. For tests: it
 * renews no claim.
 */
export async function runDueTasks(options: RunOptions): Promise<number> {
  const {
    db,
    kinds,
    claimMs = 5 * MINUTE_MS,
    timeoutMs = 5 * MINUTE_MS,
    maxRuns = 10_000,
  } = options;
  const holder = options.holder ?? 'run-due-tasks';
  const keep = options.keep ?? { okMs: DAY_MS, failedMs: 14 * DAY_MS };
  const rules = {
    backoff: options.backoff ?? { firstMs: 30_000, longestMs: 60 * MINUTE_MS },
    mask: maskSecrets(options.secrets ?? []),
    random: options.random ?? Math.random,
  };
  const slots = Object.fromEntries(Object.entries(kinds).map(([name, kind]) => [name, kind.slots]));
  for (let runs = 0; ;) {
    const asked = performance.now();
    const claimed = await claimTasks(db, {
      holder,
      claimMs,
      slots,
      takeOver: true,
      keepFailedMs: keep.failedMs,
    });
    if (claimed.length === 0) return runs;
    const settlements = await Promise.all(
      claimed.map(async (row) => {
        const kind = kinds[row.kind];
        if (row.ended || kind === undefined) return [];
        const task = taskOf(row, () => shareLeft(performance.now() - asked, claimMs));
        const limitMs = kind.timeoutMs ?? timeoutMs;
        const result = await runHandler(kind.handler, task, limitMs).result;
        const settlement = decideSettlement(task, result, { ...rules, timeoutMs: limitMs });
        return [{ claim: { id: row.id, fence: row.fence, holder }, settlement }];
      }),
    );
    const ended = settlements.flat();
    await writeSettlements(db, ended, keep);
    runs += ended.length;
    if (runs > maxRuns)
      throw new Error(
        `${runs} tasks were run, and others are still due: they seem to enqueue each other for ever.`,
      );
  }
}
