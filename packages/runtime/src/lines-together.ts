import { Writable } from 'node:stream';

/**
 * Hands on all that is written in one turn of the event loop with one call of the system, after whatever that turn has answered: on a pipe
 * each write stops the process until it is done. What is left at the end of the process is written then.
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
  return new Writable({
    decodeStrings: false,
    write(line: string | Buffer, _encoding, done) {
      if (pending === '') setImmediate(flush);
      pending += String(line);
      done();
    },
  });
}
