import type { Db } from '@paddock/db/schema/tables';
import type { Secret } from '@paddock/runtime/secret';
import { decideSettlement } from '../decide-settlement.ts';
import { claimTasks, shareLeft, taskOf } from '../claim-tasks.ts';
import { maskSecrets } from '../mask-secrets.ts';
import { writeSettlements } from '../write-settlements.ts';
import type { Kinds } from '../kind.ts';
import { runOf } from '../run-handler.ts';

interface RunOptions {
  readonly db: Db;
  readonly kinds: Kinds;
  readonly holder?: string;
  /** How long a claim lasts. No run may take longer: nothing renews it. */
  readonly claimMs?: number;
  readonly secrets?: readonly Secret[];
  /** Gives [0, 1). */
  readonly random?: () => number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const KEEP = { okMs: DAY_MS, failedMs: 14 * DAY_MS };
/** More runs than this mean that tasks enqueue each other for ever. */
const MOST_RUNS = 10_000;

/**
 * Runs due tasks and their follow-ons until none is due. Returns the number of runs. For tests: it
 * renews no claim.
 */
export async function runDueTasks({
  db,
  kinds,
  holder = 'run-due-tasks',
  claimMs = 5 * MINUTE_MS,
  secrets = [],
  random = Math.random,
}: RunOptions): Promise<number> {
  const backoff = { firstMs: 30_000, longestMs: 60 * MINUTE_MS };
  const rules = { backoff, mask: maskSecrets(secrets), random };
  const slots = Object.fromEntries(Object.entries(kinds).map(([name, kind]) => [name, kind.slots]));
  for (let runs = 0; ;) {
    const asked = performance.now();
    const claim = { holder, claimMs, slots, takeOver: true, keepFailedMs: KEEP.failedMs };
    const claimed = await claimTasks(db, claim);
    if (claimed.length === 0) return runs;
    const settlements = await Promise.all(
      claimed.map(async (row) => {
        const kind = kinds[row.kind];
        if (row.ended || kind === undefined) return [];
        const task = taskOf(row, () => shareLeft(performance.now() - asked, claimMs));
        const limitMs = kind.timeoutMs ?? 5 * MINUTE_MS;
        const run = runOf(kind.handler, task, limitMs);
        run.begin();
        const result = await run.result;
        const settlement = decideSettlement(task, result, { ...rules, timeoutMs: limitMs });
        return [{ claim: { id: row.id, fence: row.fence, holder }, settlement }];
      }),
    );
    const ended = settlements.flat();
    await writeSettlements(db, ended, KEEP);
    runs += ended.length;
    if (runs > MOST_RUNS)
      throw new Error(
        `${runs} tasks were run, and others are still due: they seem to enqueue each other for ever.`,
      );
  }
}
