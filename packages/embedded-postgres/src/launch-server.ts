import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { NewCluster } from './cluster.ts';

/**
 * How a server ends. `smart` gives clients a second to leave and then goes on as `fast`, which
 * disconnects them and writes all to disk. `immediate` is a crash; the next start recovers from it.
 */
export type ShutdownMode = 'smart' | 'fast' | 'immediate';

export interface ServerLaunch extends NewCluster {
  readonly port: number;
  readonly settings: Readonly<Record<string, string>>;
}

export interface RunningServer {
  /** Ends the server and resolves when it is gone; at once if it is gone already. */
  readonly end: (mode: ShutdownMode) => Promise<void>;
}

/**
 * Keeps the server alive just as long as the pipe at fd 3 is open. Each line that comes through it
 * is the name of a signal for the server. We close the pipe, or the system does when we die, even
 * by `kill -9`. Then the clients get a second to leave, because a pool's end() resolves before its
 * sockets are closed; then the server ends with or without them.
 *
 * The watcher ignores the signals that a terminal or a process manager sends to everyone: only the
 * pipe decides.
 */
const WATCHER = `
"$@" </dev/null 3<&- &
server=$!
trap '' HUP INT TERM
(
  while read -r signal; do kill -s "$signal" $server; done
  kill -s TERM $server
  sleep 1 3<&-
  kill -s INT $server
) <&3 >/dev/null 2>&1 &
reader=$!
exec 3<&-
wait $server
code=$?
kill -s KILL $reader 2>/dev/null
exit $code`;

/** PostgreSQL's names for the ways to end. A closed pipe means a smart shutdown. */
const SIGNAL_OF: Record<ShutdownMode, string> = { smart: '', fast: 'INT\n', immediate: 'QUIT\n' };

const READY = 'database system is ready to accept connections';

/**
 * Starts the server and resolves once it accepts connections; rejects with its log if it ends
 * before.
 */
export async function launchServer(launch: ServerLaunch): Promise<RunningServer> {
  const settings = Object.entries(launch.settings).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const binary = join(launch.nativeFiles, 'bin', 'postgres');
  const command = [binary, '-D', launch.dataDir, '-p', String(launch.port), ...settings];
  const watcher = spawn('/bin/sh', ['-c', WATCHER, 'paddock-postgres-watcher', ...command], {
    ...launch.account,
    cwd: '/',
    env: launch.environment,
    // A separate session: Ctrl-C reaches this program, which may still need its database to stop in
    // order.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  const pipe = watcher.stdio[3];
  if (!(pipe instanceof Socket) || !(watcher.stderr instanceof Socket))
    throw new Error('Node gave /bin/sh no pipes to run PostgreSQL with.');
  const exited = once(watcher, 'exit');
  // Writing to a watcher that is gone fails; `exited` reports its end.
  pipe.on('error', () => undefined);
  await untilReady(watcher, watcher.stderr, exited, launch);
  // Lets a program that has nothing else to do end; its end closes the pipe.
  for (const handle of [watcher, watcher.stderr, pipe]) handle.unref();
  return {
    end: async (mode) => {
      watcher.ref();
      if (!pipe.writableEnded) pipe.end(SIGNAL_OF[mode]);
      await exited;
    },
  };
}

/** Reads the log for as long as the server runs. */
async function untilReady(
  watcher: ChildProcess,
  log: Socket,
  exited: Promise<unknown>,
  { dataDir, port }: ServerLaunch,
): Promise<void> {
  const lines: string[] = [];
  let ready = false;
  const reader = createInterface({ input: log });
  const accepting = new Promise<void>((resolve) => {
    reader.on('line', (line) => {
      if (ready) return;
      lines.push(line);
      ready = line.includes(READY);
      if (ready) resolve();
    });
  });
  const logEnded = once(reader, 'close');
  const failed = exited.then(async () => {
    await logEnded;
    if (ready) return;
    throw new Error(
      `PostgreSQL did not start on port ${port} with the data in ${dataDir} (exit code ${watcher.exitCode}). Its log:\n${lines.join('\n')}`,
    );
  });
  await Promise.race([accepting, failed]);
}
