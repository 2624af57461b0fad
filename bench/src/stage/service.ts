import { readFile } from 'node:fs/promises';
import type { Program } from '@paddock/processes/start-program';
import { startProgram, untilReadiness, untilReady } from '@paddock/processes/start-program';

export interface ServiceOptions {
  readonly name: string;
  readonly program: string;
  readonly args?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** Called with its address after every start. */
  readonly onStart?: (url: string) => Promise<void> | void;
  /** It ended although the bench did not kill it. */
  readonly onEnd: (error: Error) => void;
}

export type Service = ReturnType<typeof createService>;

/** A process that may be killed and started again at any time. */
export function createService({ name, program, args = [], env, onStart, onEnd }: ServiceOptions) {
  let running: Program | undefined;
  let isClosed = false;
  let kills = 0;
  let complaints = 0;
  let readyMs = Number.NaN;
  const startNow = async (): Promise<void> => {
    if (running !== undefined || isClosed) return;
    const asked = performance.now();
    const started = await startProgram({ program, args, env: { NODE_ENV: 'production', ...env } });
    running = started;
    const tell = ({ code, signal }: Awaited<Program['exited']>): void => {
      const how = `ended by itself (${signal ?? `exit code ${code}`})`;
      const last = started.lines().slice(-20).join('\n');
      if (running === started) onEnd(new Error(`The ${name} ${how}:\n${last}`));
    };
    void started.exited.then(tell);
    if (started.port === undefined) throw new Error(`The ${name} did not say where it listens.`);
    await onStart?.(`http://127.0.0.1:${started.port}`);
    await untilReady(started.healthPort);
    readyMs = performance.now() - asked;
  };
  const killNow = async (): Promise<void> => {
    const killed = running;
    running = undefined;
    if (killed === undefined) return;
    killed.kill('SIGKILL');
    if ((await killed.exited).signal === 'SIGKILL') kills += 1;
  };

  // One after the other: two faults may start and kill the same service, and no process may escape.
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = (act: () => Promise<void>) => (): Promise<void> => {
    const turn = Promise.allSettled([last]).then(act);
    last = turn;
    return turn;
  };
  const kill = inTurn(killNow);
  return {
    name,
    /** Starts it and waits until it is ready. Does nothing if it runs. */
    start: inTurn(startNow),
    /** Kills it and waits for its end. Does nothing if it does not run. */
    kill,
    /** Stops it where it is, until `thaw` or `kill`. Does nothing if it does not run. */
    freeze: () => running?.kill('SIGSTOP'),
    thaw: () => running?.kill('SIGCONT'),
    /** What it shows at /metrics; undefined if it does not answer in time. */
    async metrics(withinMs: number): Promise<string | undefined> {
      if (running === undefined) return undefined;
      const signal = AbortSignal.timeout(withinMs);
      return fetch(`http://127.0.0.1:${running.healthPort}/metrics`, { signal }).then(
        (answer) => answer.text(),
        () => undefined,
      );
    },
    /** How long its last start took until it was ready, in milliseconds. */
    readyMs: () => readyMs,
    /** Its resident memory, in MB; NaN where there is no /proc. */
    async residentMb(): Promise<number> {
      const status = await readFile(`/proc/${running?.pid}/status`, 'utf8').catch(() => '');
      return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? Number.NaN) / 1_024;
    },
    /** How often it was killed while it ran. */
    kills: () => kills,
    /** Waits until it reports that it is not ready. Does nothing if it does not run. */
    async untilUnready() {
      if (running === undefined) return;
      await untilReadiness(running.healthPort, 'unready');
      complaints += 1;
    },
    /** How often it has reported that during such a wait. */
    complaints: () => complaints,
    /** Kills it for good: a fault that is still at work can no longer start it. */
    close() {
      isClosed = true;
      return kill();
    },
  };
}
