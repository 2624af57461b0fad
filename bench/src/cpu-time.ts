import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** USER_HZ: Linux always shows 100 in /proc. */
const TICKS_PER_SECOND = 100;

/**
 * CPU seconds that a process has used so far, its threads included; NaN where there is no /proc.
 */
export async function cpuSecondsOf(pid: number): Promise<number> {
  const stat = await readStat(String(pid));
  return stat === undefined ? Number.NaN : stat.own / TICKS_PER_SECOND;
}

/**
 * CPU seconds of the PostgreSQL server with its data in `dataDir`: its first process, its living
 * children, and those that have ended, whose time the first process has taken over. NaN where there
 * is no /proc.
 */
export async function postgresCpuSeconds(dataDir: string): Promise<number> {
  const pid = (await readFile(join(dataDir, 'postmaster.pid'), 'utf8')).split('\n', 1)[0] ?? '';
  const first = await readStat(pid);
  if (first === undefined) return Number.NaN;
  const processes = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const stats = await Promise.all(processes.map(readStat));
  const ofChildren = stats.reduce((sum, stat) => sum + (stat?.parent === pid ? stat.own : 0), 0);
  return (first.own + first.ended + ofChildren) / TICKS_PER_SECOND;
}

interface Stat {
  readonly parent: string;
  /** Clock ticks of the process itself, in user and system mode. */
  readonly own: number;
  /** Clock ticks of its children that have ended. */
  readonly ended: number;
}

/** Undefined if the process, or /proc itself, does not exist. */
async function readStat(pid: string): Promise<Stat | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  // The name, in parentheses, may contain anything. The fields after it are numbers; the state is
  // the third field of all.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  if (fields === undefined) return undefined;
  const field = (position: number): number => Number(fields[position - 3]);
  return { parent: String(field(4)), own: field(14) + field(15), ended: field(16) + field(17) };
}
