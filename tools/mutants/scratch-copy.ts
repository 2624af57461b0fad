import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

/** A copy of a checkout with its present contents, in which mutants can be tried. */
export interface ScratchCopy {
  readonly path: string;
  /**
   * Runs Node there to its end, and kills the processes that it leaves behind. Rejects if the signal
   * aborts. It uses no server of the developer: an interrupted run would leave databases on it.
   */
  node(args: readonly string[]): Promise<Run>;
  remove(): void;
}

export interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Foreign packages, in `.pnpm`, are shared with the checkout. */
const NOT_COPIED = new Set(['.git', '.pnpm']);

export function makeScratchCopy(root: string, signal: AbortSignal): ScratchCopy {
  // Jest knows files by their real path.
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'paddock-mutants-')));
  const path = join(place, 'checkout');
  cpSync(root, path, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (entry) => !NOT_COPIED.has(basename(entry)),
  });
  symlinkSync(join(root, 'node_modules/.pnpm'), join(path, 'node_modules/.pnpm'));
  return {
    path,
    node: (args) => runNode(args, path, signal),
    remove: () => rmSync(place, { recursive: true, force: true }),
  };
}

/** Longer than all tests take: some mutants loop without end, which no limit of Jest's ends. */
const LIMIT_MS = 1_800_000;

async function runNode(args: readonly string[], cwd: string, signal: AbortSignal): Promise<Run> {
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
  const killGroup = (): void => {
    try {
      process.kill(-(child.pid ?? Number.NaN), 'SIGKILL');
    } catch {
      // All of it has ended.
    }
  };
  signal.addEventListener('abort', killGroup, { once: true });
  child.once('exit', killGroup);
  const limit = setTimeout(killGroup, LIMIT_MS);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(limit);
  signal.removeEventListener('abort', killGroup);
  signal.throwIfAborted();
  return { code, ...said };
}
