import { setTimeout as sleep } from 'node:timers/promises';
import { listDiagnosesEndpoint } from '@paddock/api/diagnoses/list-diagnoses';
import { sql } from 'kysely';
import type { Stage } from '../stage/stage.ts';
import type { Fault } from './fault.ts';

const LOOK_EVERY_MS = 250;
/** From the first job that is held back until the first line of the board says why. */
const WITHIN_MS = 5_000;

/**
 * Watches the first line of the board until it names the cause. Resolves with a complaint where it
 * does not in time, or where the fault held back no job until `end`.
 */
export async function watchBoard(
  { environments: [environment] }: Stage,
  { board, hit }: Fault,
  end: Promise<unknown>,
): Promise<string[]> {
  if (board === undefined || environment === undefined) return [];
  const { db } = environment;
  const over = new AbortController();
  void end.finally(() => over.abort());
  let heldAt: number | undefined;
  while (!over.signal.aborted) {
    const { rows } = await sql`
      select from jobs join demand_keys using (demand_key)
      where wants_worker and wait_reason is not null and (${hit === undefined} or repo_full_name = any(${hit?.repositories ?? []})) limit 1`.execute(
      db,
    );
    if (rows.length > 0) heldAt ??= performance.now();
    const lateMs = performance.now() - (heldAt ?? Infinity);
    const { items } = await listDiagnosesEndpoint.answer(
      { db, person: 'faults', from: 'terminal' },
      {},
    );
    const said = `${items[0]?.name}: ${items[0]?.sentence}`;
    if (heldAt !== undefined && board.test(said)) return [];
    if (lateMs > WITHIN_MS)
      return [`The board's first line does not say why jobs are held back, but ${said}`];
    await sleep(LOOK_EVERY_MS);
  }
  return ['The fault held back no job, so the board had nothing to name.'];
}
