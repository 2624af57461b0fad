import { Writable } from 'node:stream';

/**
 * Writes all lines of one turn of the event loop with one system call, after the answers of that
 * turn: on a pipe, each write stops the process until it is done. Lines still waiting at the end of
 * the process are written then. A write that fails, because the reader of a pipe has gone or a disk
 * is full, loses its lines; the next lines are tried again. Nothing else fails because a log line
 * was lost.
 */
export function linesTogether(out: Writable): Writable {
  let pending = '';
  const flush = () => {
    if (pending === '') return;
    const lines = pending;
    pending = '';
    out.write(lines);
  };
  process.on('exit', flush);
  // Without a listener the error would end the process.
  out.on('error', () => undefined);
  return new Writable({
    decodeStrings: false,
    write(line: string | Buffer, _encoding, done) {
      if (pending === '') setImmediate(flush);
      pending += String(line);
      done();
    },
  });
}
