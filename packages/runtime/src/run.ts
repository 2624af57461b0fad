import type { Logger } from './logger.ts';
import { ConfigError } from './config-error.ts';

/** Runs until the signal aborts, and resolves once it has stopped cleanly. */
export type Service = (signal: AbortSignal) => Promise<void>;

export interface RunOptions {
  /** How long the services may take to stop, in milliseconds. */
  graceMs: number;
  log: Logger;
  /**
   * Called when stopping begins, before the services stop, so that the health check shows "not
   * ready".
   */
  onStop?: () => void;
  /** Of `catchSignals`, where the process has called it before. */
  caught?: AbortSignal;
}

/**
 * Aborts at the first SIGTERM or SIGINT. A second one ends the process at once: the default action
 * of a signal does nothing to process 1 of a container.
 */
export function catchSignals(): AbortSignal {
  const caught = new AbortController();
  const onSignal = (name: NodeJS.Signals) => {
    if (caught.signal.aborted) process.exit(1);
    caught.abort(new Error(`received ${name}`));
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  return caught.signal;
}

/**
 * Runs services until one fails or a signal is caught, then gives all of them `graceMs` to finish.
 * The exit code is 0 only if every service stopped cleanly after a signal.
 */
export async function run(
  services: Readonly<Record<string, Service>>,
  { graceMs, log, onStop, caught = catchSignals() }: RunOptions,
): Promise<void> {
  const stop = new AbortController();
  const unfinished = new Set(Object.keys(services));

  const beginStop = (reason: unknown) => {
    if (stop.signal.aborted) return;
    onStop?.();
    stop.abort(reason);
    setTimeout(() => {
      log.error('not everything stopped in time', { graceMs, unfinished: [...unfinished] });
      process.exit(1);
    }, graceMs).unref();
  };
  const onSignal = () => {
    log.info('stopping', { reason: String(caught.reason) });
    beginStop(caught.reason);
  };
  if (caught.aborted) onSignal();
  else caught.addEventListener('abort', onSignal);

  await Promise.all(
    Object.entries(services).map(async ([name, service]) => {
      try {
        await service(stop.signal);
        if (!stop.signal.aborted) throw new Error(`the service part "${name}" ended by itself`);
      } catch (error) {
        process.exitCode = 1;
        log.error('a part of the service failed', { part: name, error });
        beginStop(error);
      } finally {
        unfinished.delete(name);
      }
    }),
  );
  log.info('stopped');
}

/**
 * Wraps the body of a `main.ts`. Prints a wrong configuration without a stack and any other failure
 * with one; both end with code 1. Otherwise the process ends by itself once nothing is left to do.
 */
export async function main(body: () => Promise<void>): Promise<void> {
  try {
    await body();
  } catch (error) {
    process.stderr.write(
      error instanceof ConfigError
        ? `${error.message}\n`
        : `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    process.exitCode = 1;
  }
}
