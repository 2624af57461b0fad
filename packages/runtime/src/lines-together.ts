import { Writable } from 'node:stream';

/**
 * Hands on all that is written in one turn of the event loop with one call of the system, after
 * whatever that turn has answered: on a pipe each write stops the process until it is done. What is
 * left at the end of the process is written then. What cannot be written, as when the reader of a
 * pipe has gone or a disk is full, is lost, and the next lines are tried again: nothing fails for
 * the lack of its log.
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
  // Without a listener the process would end.
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
