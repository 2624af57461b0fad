import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** The limit for a process that hangs: tests, rows and Stryker have shorter ones. */
const LIMIT_MS = 2 * 60 * 60_000;

export interface Run {
  /** Null if it was killed because it did not end. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs Node with these arguments to its end, and kills the processes it leaves behind. Rejects if
 * the signal aborts, once the process is gone. It does not use a developer's server: an interrupted
 * run would leave databases on it.
 */
export async function runNode(
  args: readonly string[],
  { cwd, signal }: { cwd: string; signal: AbortSignal },
): Promise<Run> {
  signal.throwIfAborted();
  const { TEST_DATABASE_URL: _, ...env } = process.env;
  // Detached: it leads a group, which can be killed as one.
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
    cwd,
    env: { ...env, PADDOCK_TEST_PATIENCE_MS: '30000' },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].setEncoding('utf8').on('data', (text: string) => (said[stream] += text));
  const killGroup = (): void => kill(child.pid);
  const limit = setTimeout(killGroup, LIMIT_MS);
  signal.addEventListener('abort', killGroup, { once: true });
  child.once('exit', killGroup);
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    signal.throwIfAborted();
    return { code, ...said };
  } finally {
    clearTimeout(limit);
    signal.removeEventListener('abort', killGroup);
  }
}

function kill(group: number | undefined): void {
  if (group === undefined) return;
  try {
    process.kill(-group, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
