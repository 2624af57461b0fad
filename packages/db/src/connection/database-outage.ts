import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@paddock/runtime/logger';
import type pg from 'pg';
import { createSamples } from '@paddock/runtime/events';
import { isLocalShortage, saysAway, sqlStateOf } from './errors.ts';
import { Client } from './client.ts';

/** Receives failures of connections: broken, not opened, or cut. */
export interface Outage {
  /** `config` is how to try PostgreSQL until it answers again. */
  failed(error: unknown, config: pg.ClientConfig): void;
  /**
   * Calls `act` at each failure: other connections of the process need not find out by themselves.
   */
  onFailure(act: () => void): void;
  /** Asks others for a connection, since no further one can be opened. */
  shortage(): void;
  /** `giveUp` closes an idle connection. It returns false if it has none; then the next is asked. */
  onShortage(giveUp: () => boolean): void;
  /** Calls `act` as soon as PostgreSQL answers after a failure, so that pollers look at once. */
  onAnswer(act: () => void): void;
  /** Ends the watch over an outage that lasts. */
  close(): Promise<void>;
}

const TRY_EVERY_MS = 500;
const TRY_LIMIT_MS = 2_000;
/** An outage is over after so long without a failure: some connections break late. */
const CALM_MS = 1_000;
const DEEPEST_CAUSE = 3;

interface Failing {
  failedAt: number;
  /** Lines that were not written, by message. */
  readonly cost: Record<string, number>;
}

/**
 * Reports an outage of PostgreSQL in two lines: one when it begins, one when PostgreSQL answers
 * again, with its length and what it cost. The returned logger writes lines whose error says the
 * same at level `debug`, and counts them for the second line. Of lines about what PostgreSQL lacks,
 * as room on its disk or our password, it writes each once a minute.
 */
export function watchOutages(log: Logger): { outage: Outage; log: Logger } {
  const reported = new WeakSet<object>();
  const sample = createSamples();
  const onFailure: (() => void)[] = [];
  const onShortage: (() => boolean)[] = [];
  const onAnswer: (() => void)[] = [];
  const closed = new AbortController();
  // The sleep rejects only when the watch ends, and the loop checks that itself.
  const rest = (ms: number) =>
    sleep(ms, undefined, { ref: false, signal: closed.signal }).catch(() => undefined);
  let failing: Failing | undefined;
  let watching: Promise<void> | undefined;

  /** Undefined: the watch was ended before. */
  async function untilCalm(now: Failing, config: pg.ClientConfig): Promise<number | undefined> {
    while (!closed.signal.aborted) {
      if (await answers(config)) {
        const answeredAt = performance.now();
        for (const act of onAnswer) act();
        await rest(CALM_MS);
        if (now.failedAt < answeredAt) return answeredAt;
      } else await rest(TRY_EVERY_MS);
    }
    return undefined;
  }

  async function watch(error: unknown, config: pg.ClientConfig): Promise<void> {
    const began = performance.now();
    failing = { failedAt: began, cost: {} };
    log.error(
      'PostgreSQL cannot be reached; errors with this cause are only counted until it answers again',
      {
        reason: reasonOf(error),
      },
    );
    const answeredAt = await untilCalm(failing, config);
    if (answeredAt !== undefined)
      log.warn('PostgreSQL answers again', {
        afterMs: Math.round(answeredAt - began),
        cost: failing.cost,
      });
    failing = undefined;
  }

  const outage: Outage = {
    failed(error, config) {
      if (!saysAway(error)) return;
      if (typeof error === 'object' && error !== null) reported.add(error);
      if (closed.signal.aborted) return;
      if (failing === undefined) watching = watch(error, config);
      else failing.failedAt = performance.now();
      for (const act of onFailure) act();
    },
    onFailure: (act) => void onFailure.push(act),
    shortage: () => void onShortage.some((giveUp) => giveUp()),
    onShortage: (giveUp) => void onShortage.push(giveUp),
    onAnswer: (act) => void onAnswer.push(act),
    close: async () => {
      closed.abort();
      await watching;
    },
  };

  const isReported = (error: object): boolean => reported.has(error);
  const writeUnlessReported =
    (level: 'error' | 'warn' | 'info') =>
    (message: string, fields?: { readonly error?: unknown }): Logger => {
      if (failing === undefined || findCause(fields?.error, isReported) === undefined) {
        const lack = sqlStateOf(findCause(fields?.error, isLack));
        const sampled = lack === undefined ? {} : sample(`${message} ${lack}`);
        log[sampled === undefined ? 'debug' : level](message, { ...fields, ...sampled });
        return quiet;
      }
      failing.cost[message] = (failing.cost[message] ?? 0) + 1;
      log.debug(message, fields);
      return quiet;
    };
  const quiet = {
    error: writeUnlessReported('error'),
    warn: writeUnlessReported('warn'),
    info: writeUnlessReported('info'),
    debug: log.debug,
  } as Logger;
  return { outage, log: quiet };
}

/**
 * PostgreSQL refuses our login or has no such database, has no room on its disk, no memory, or a
 * limit of it is reached.
 */
const isLack = (error: object): boolean => /^(28|3D|53)/.test(sqlStateOf(error) ?? '');

/** The error or one of its causes. */
const findCause = (error: unknown, is: (error: object) => boolean, depth = 0): unknown => {
  if (typeof error !== 'object' || error === null || depth > DEEPEST_CAUSE) return undefined;
  if (is(error)) return error;
  return 'cause' in error ? findCause(error.cause, is, depth + 1) : undefined;
};

/** A refusal by several addresses of one host has no message. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  return error instanceof Error ? error.message : String(error);
}

/** Without a row, the session takes no writes. */
export const TAKES_WRITES = `select where current_setting('transaction_read_only') = 'off'`;

/** Whether PostgreSQL answers, and takes writes. */
async function answers(config: pg.ClientConfig): Promise<boolean> {
  const client = new Client({
    ...config,
    connectionTimeoutMillis: TRY_LIMIT_MS,
    query_timeout: TRY_LIMIT_MS,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query(TAKES_WRITES);
    return rows.length > 0;
  } catch (error) {
    // PostgreSQL refused us, for example for a wrong password: no outage. The caller that connects
    // reports it.
    return !saysAway(error) && !isLocalShortage(error);
  } finally {
    await client.end();
  }
}
