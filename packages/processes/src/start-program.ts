import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ProgramStart {
  /** Path of a script that Node runs. */
  readonly program: string;
  readonly args?: readonly string[];
  /** The whole environment of the program. */
  readonly env: NodeJS.ProcessEnv;
}

interface ProgramEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A program in another process, which never lives longer than this one. */
export interface Program {
  readonly pid: number;
  /** Where its HTTP server listens, if it logged that. */
  readonly port: number | undefined;
  /** The URL of its health and metrics, on the same port or another. */
  readonly healthPort: number | undefined;
  /** Sends a signal. Does nothing if the program is gone. */
  readonly kill: (signal: NodeJS.Signals) => void;
  readonly exited: Promise<ProgramEnd>;
  /** Its output so far. */
  readonly lines: () => readonly string[];
}

/**
 * A program that is silent for longer is killed. A start takes a while on a busy machine; a test's
 * limit is longer, so that the report shows the program's output.
 */
const START_TIMEOUT_MS = 120_000;

/**
 * Starts a program and resolves when it logs a JSON line with the message "listening". Rejects with
 * its output if it ends or stays silent.
 */
export async function startProgram({ program, args = [], env }: ProgramStart): Promise<Program> {
  const child = spawn(process.execPath, [program, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  const listening = new Promise<Listening>((resolve) => {
    let hasSaid = false;
    const take = (line: string): void => {
      lines.push(line);
      if (hasSaid) return;
      const said = parseListening(line);
      hasSaid = said !== undefined;
      if (said) resolve(said);
    };
    readLines(child.stdout, take);
    readLines(child.stderr, take);
  });
  // "close" comes after "exit", once all output has been read.
  const exited = once(child, 'close').then(([code, signal]): ProgramEnd => ({ code, signal }));
  exited.catch(() => undefined); // awaited later
  const pid = killWithParent(child, exited);
  let isLate = false;
  const failed = exited.then((end) => {
    const how = isLate
      ? `was killed, for it did not listen within ${START_TIMEOUT_MS} ms`
      : 'ended before it listened';
    throw new Error(
      `${program} ${how} (${end.signal ?? `exit code ${end.code}`}). It printed:\n${lines.join('\n')}`,
    );
  });
  const timer = setTimeout(() => {
    isLate = child.kill('SIGKILL');
  }, START_TIMEOUT_MS);
  try {
    const ports = await Promise.race([listening, failed]);
    return { pid, ...ports, kill: (signal) => void child.kill(signal), exited, lines: () => lines };
  } finally {
    clearTimeout(timer);
  }
}

function readLines(stream: Readable, take: (line: string) => void): void {
  createInterface({ input: stream }).on('line', take);
}

type Listening = Pick<Program, 'port' | 'healthPort'>;

/** Undefined for any other line. */
function parseListening(line: string): Listening | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const said = JSON.parse(line) as { message?: unknown; port?: unknown; healthPort?: unknown };
    if (said.message !== 'listening') return undefined;
    const port = typeof said.port === 'number' ? said.port : undefined;
    return { port, healthPort: typeof said.healthPort === 'number' ? said.healthPort : port };
  } catch {
    return undefined;
  }
}

/**
 * The guard ends when it reads a word. When its input just closes, as when this process dies, it
 * kills the child.
 */
const GUARD = 'read -r released || kill -s KILL "$0"';

/**
 * Makes sure that the child dies with this process, even if this one is killed. Returns the child's
 * id.
 */
export function killWithParent(child: ChildProcess, exited: Promise<unknown>): number {
  if (child.pid === undefined) throw new Error('Node could not start a process of its own.');
  // Detached: a Ctrl-C that ends the tests must not end their guard.
  const guard = spawn('/bin/sh', ['-c', GUARD, String(child.pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.unref();
  const release = (): void => void guard.stdin.end('released\n');
  exited.then(release, release);
  return child.pid;
}

/** For a service that never becomes ready; a machine may be slow. */
const LIMIT_MS = 120_000;

/**
 * Waits until the health page at this port stops saying that the service is not ready. A service
 * without such a page counts as ready.
 */
export const untilReady = (port: number | undefined): Promise<void> =>
  untilReadiness(port, 'ready');

export async function untilReadiness(
  port: number | undefined,
  wanted: 'ready' | 'unready',
): Promise<void> {
  if (port === undefined) throw new Error('A service did not say where it listens.');
  const deadline = performance.now() + LIMIT_MS;
  for (;;) {
    const { isUnready, said } = await askReadiness(port);
    if (isUnready === (wanted === 'unready')) return;
    if (performance.now() > deadline)
      throw new Error(`The service on port ${port} has not become ${wanted}: ${said}`);
    await sleep(50);
  }
}

/** A service that does not answer, as on a busy machine, is neither. */
const askReadiness = (port: number): Promise<{ isUnready?: boolean; said: string }> =>
  fetch(`http://127.0.0.1:${port}/readyz`).then(
    async (answer) => ({ isUnready: answer.status === 503, said: await answer.text() }),
    (error: unknown) => ({ said: String(error) }),
  );
