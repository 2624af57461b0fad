import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/** A program of a cluster that runs. */
export interface ClusterPart {
  /** Kills it, as a power failure does. Resolves when it is gone. */
  stop(): Promise<void>;
  signal(signal: 'SIGSTOP' | 'SIGCONT'): Promise<void>;
}

/**
 * Runs a program until fd 3 closes, which the system does even when this process is killed; writes
 * its process id to fd 4.
 */
const GUARD = `
"$@" </dev/null 3<&- 4>&- &
part=$!
trap '' HUP INT TERM
( read -r _; kill -s KILL $part ) <&3 >/dev/null 2>&1 4>&- &
exec 3<&-
echo $part >&4
exec 4>&-
wait $part`;

/**
 * Starts a program whose output goes to the end of a file. It ends with this process, however that
 * ends.
 */
export function startPart(
  program: string,
  logFile: string,
  flags: Readonly<Record<string, string>>,
): ClusterPart {
  const log = openSync(logFile, 'a');
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
  const guard: ChildProcess = spawn(
    '/bin/sh',
    ['-c', GUARD, 'paddock-cluster-guard', program, ...args],
    {
      detached: true,
      stdio: ['ignore', log, log, 'pipe', 'pipe'],
    },
  );
  closeSync(log);
  const exited = once(guard, 'exit');
  const [, , , life, said] = guard.stdio;
  // To close the pipe of a guard that has ended fails, and is harmless.
  life?.on('error', () => undefined);
  const processId = once(createInterface({ input: said as Readable }), 'line').then(([line]) =>
    Number(line),
  );
  processId.catch(() => undefined); // the sender of a signal gets the error
  return {
    async stop() {
      life?.destroy();
      await exited;
    },
    async signal(signal) {
      process.kill(await processId, signal);
    },
  };
}
