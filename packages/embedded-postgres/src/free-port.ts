import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below the ports that systems give to outgoing connections (Linux from 32768, macOS from 49152).
 * Else a client that keeps trying to reach a stopped server could get the server's port, connect to
 * itself and keep the server from starting.
 */
const FIRST_PORT = 15_000;
const PORTS_END = 32_000;
const ATTEMPTS = 100;

/** A TCP port of 127.0.0.1 that is free at this moment. */
export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = randomInt(FIRST_PORT, PORTS_END);
    if (await isFree(port)) return port;
  }
  throw new Error(
    `No free TCP port found on 127.0.0.1 in ${ATTEMPTS} tries between ${FIRST_PORT} and ${PORTS_END}.`,
  );
}

export async function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
