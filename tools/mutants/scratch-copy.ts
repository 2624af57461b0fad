import { spawn } from 'node:child_process';
import { addAbortListener, once } from 'node:events';
import { cpSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';

export type ScratchCopy = ReturnType<typeof makeScratchCopy>;
export type Run = Awaited<ReturnType<typeof runNode>>;

/** Foreign packages, in `.pnpm`, are shared with the checkout. */
const NOT_COPIED = new Set(['.git', '.pnpm']);

/** A copy of a checkout with its present contents, in which mutants can be tried. */
export function makeScratchCopy(root: string, signal: AbortSignal) {
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
    node: (args: readonly string[]) => runNode(args, path, signal),
    remove: () => rmSync(place, { recursive: true, force: true }),
  };
}

/**
 * Runs Node in a folder to its end, and kills the processes that it leaves behind. Rejects if the
 * signal aborts. It uses no server of the developer: an interrupted run would leave databases on it.
 */
async function runNode(args: readonly string[], cwd: string, signal: AbortSignal) {
  const { TEST_DATABASE_URL: _, ...env } = process.env;
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
    cwd,
    env: { ...env, PADDOCK_TEST_PATIENCE_MS: '30000' },
    detached: true, // It leads a group, which can be killed as one.
    stdio: ['ignore', 'pipe', 'pipe'],
    // Longer than all tests take: some mutants loop without end, which no limit of Jest's ends.
    timeout: 1_800_000,
    killSignal: 'SIGKILL',
  });
  const killGroup = (): void => {
    try {
      process.kill(-(child.pid ?? Number.NaN), 'SIGKILL');
    } catch {
      // All of it has ended.
    }
  };
  const aborted = addAbortListener(signal, killGroup);
  child.once('exit', killGroup);
  const [[code], stdout, stderr] = await Promise.all([
    once(child, 'close') as Promise<[number | null]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  aborted[Symbol.dispose]();
  signal.throwIfAborted();
  return { code, stdout, stderr };
}
