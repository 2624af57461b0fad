import { connect } from 'node:net';

/**
 * Writes the parts one after the other to a connection of its own, and gives the statuses of all answers once it is closed. `end` says how
 * the sender leaves: it waits for the other side, closes its own, or breaks off.
 */
export function sendRaw(port: number, parts: readonly Buffer[], end: 'wait' | 'close' | 'break'): Promise<number[]> {
  const { promise, resolve } = Promise.withResolvers<number[]>();
  const received: Buffer[] = [];
  const socket = connect(port, '127.0.0.1');
  socket.setNoDelay(true);
  socket.on('data', (data: Buffer) => received.push(data));
  // A connection that the service resets is an answer too.
  socket.on('error', () => undefined);
  socket.on('close', () => {
    const text = Buffer.concat(received).toString('latin1');
    resolve([...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status)));
  });
  const writeFrom = (index: number): void => {
    const part = parts[index];
    // Each part is a packet of its own: the next one goes once this one has left.
    if (part !== undefined) socket.write(part, () => setImmediate(writeFrom, index + 1));
    else if (end === 'close') socket.end();
    else if (end === 'break') socket.resetAndDestroy();
  };
  socket.on('connect', () => writeFrom(0));
  return promise;
}
