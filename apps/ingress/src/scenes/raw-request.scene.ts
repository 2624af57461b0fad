import { connect } from 'node:net';

/** The statuses of all answers to `exchangeRaw`. */
export async function sendRaw(
  port: number,
  parts: readonly Buffer[],
  end: 'wait' | 'close' | 'break',
): Promise<number[]> {
  const text = await exchangeRaw(port, parts, end);
  return [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
}

/**
 * Writes the parts one after the other to a new connection, and returns all answers once it is
 * closed. `end` says how the sender leaves: it waits for the other side, closes its own, or breaks
 * off.
 */
export function exchangeRaw(
  port: number,
  parts: readonly Buffer[],
  end: 'wait' | 'close' | 'break',
): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const received: Buffer[] = [];
  const socket = connect(port, '127.0.0.1');
  socket.setNoDelay(true);
  socket.on('data', (data: Buffer) => received.push(data));
  // A connection that the service resets is an answer too.
  socket.on('error', () => undefined);
  socket.on('close', () => {
    resolve(Buffer.concat(received).toString('latin1'));
  });
  const writeFrom = (index: number): void => {
    const part = parts[index];
    // Each part is a separate packet: the next one goes once this one has left.
    if (part !== undefined) socket.write(part, () => setImmediate(writeFrom, index + 1));
    else if (end === 'close') socket.end();
    else if (end === 'break') socket.resetAndDestroy();
  };
  socket.on('connect', () => writeFrom(0));
  return promise;
}
