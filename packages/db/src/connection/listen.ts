import { pause } from '@paddock/runtime/pause';
import { createWake } from '@paddock/runtime/loop';
import type { ConnectionConfig } from './pool.ts';
import { Client } from './client.ts';
import { TAKES_WRITES } from './database-outage.ts';

export interface ListenOptions {
  /** From `clientConfig`: the listener has a connection of its own, never inside a transaction. */
  config: ConnectionConfig;
  channels: readonly string[];
  /** For each notification; without arguments after a (re)connect, which may have missed some. */
  onWake: (channel: string | undefined, payload: string | undefined) => void;
  onError: (error: unknown) => void;
  /** How often the connection is tried while silent, and the longest wait, in milliseconds. */
  heartbeatMs?: number;
}

/** After a failover, listeners reconnect and look at everything again within this time. */
const HEARTBEAT_MS = 2_000;
const FIRST_BACKOFF_MS = 100;
const LONGEST_BACKOFF_MS = 5_000;

/**
 * Listens until the signal aborts. Reconnects for ever, and at once when an outage is over. A
 * notification is a hint: callers must poll as well.
 */
export async function listen(options: ListenOptions, signal: AbortSignal): Promise<void> {
  let backoffMs = FIRST_BACKOFF_MS;
  const answered = createWake();
  options.config.outage?.onAnswer(() => answered.ring());
  while (!signal.aborted) {
    const began = performance.now();
    try {
      await listenOnce(options, signal);
    } catch (error) {
      options.config.outage?.failed(error, options.config);
      options.onError(error);
    }
    if (performance.now() - began > LONGEST_BACKOFF_MS) backoffMs = FIRST_BACKOFF_MS;
    if (signal.aborted) return;
    await answered.wait(backoffMs, signal);
    backoffMs = Math.min(backoffMs * 2, LONGEST_BACKOFF_MS);
  }
}

async function listenOnce(
  { config, channels, onWake, heartbeatMs = HEARTBEAT_MS }: ListenOptions,
  signal: AbortSignal,
): Promise<void> {
  const client = new Client({ ...config, query_timeout: heartbeatMs });
  // A signal, not a promise: each race against a promise that stays open for weeks would leak a
  // handler.
  const broken = new AbortController();
  const over = AbortSignal.any([signal, broken.signal]);
  client.on('error', (error) => broken.abort(error));
  client.on('end', () =>
    broken.abort(new Error('the listening connection was closed by the server')),
  );
  client.on('notification', ({ channel, payload }) => onWake(channel, payload));
  try {
    await client.connect();
    await requireWrites(client);
    for (const channel of channels)
      await client.query(`listen ${client.escapeIdentifier(channel)}`);
    onWake(undefined, undefined);
    for (;;) {
      await pause(heartbeatMs, over);
      broken.signal.throwIfAborted();
      if (signal.aborted) return;
      // A half-open connection is only noticed by using it.
      await requireWrites(client);
    }
  } finally {
    client.removeAllListeners('notification');
    await client.end();
  }
}

/** Without writes it may be at a server from which all others have moved, so no notification comes. */
async function requireWrites(client: Client): Promise<void> {
  const { rows } = await client.query(TAKES_WRITES);
  if (rows.length === 0) throw new Error('the listening connection takes no writes');
}
