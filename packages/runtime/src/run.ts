import type { Logger } from './logger.ts';

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
}

/**
 * Runs services until one fails or SIGTERM or SIGINT arrives, then gives all of them `graceMs` to
 * finish. A second signal ends the process at once. The exit code is 0 only if every service
 * stopped cleanly after a signal.
 */
export async function run(
  services: Readonly<Record<string, Service>>,
  { graceMs, log, onStop }: RunOptions,
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
  const onSignal = (name: NodeJS.Signals) => {
    // Exits explicitly: the default action of a signal does nothing to process 1 of a container.
    if (stop.signal.aborted) process.exit(1);
    log.info('stopping', { signal: name });
    beginStop(new Error(`received ${name}`));
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);

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
  process.off('SIGTERM', onSignal);
  process.off('SIGINT', onSignal);
  log.info('stopped');
}
