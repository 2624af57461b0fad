import { Writable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { linesTogether } from './logger.ts';

function collector() {
  const writes: string[] = [];
  const out = new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      writes.push(chunk);
      done();
    },
  });
  return { writes, out };
}

const turn = () => new Promise((resolve) => void setImmediate(resolve));

test('lines of one turn are written together, in order, in the next turn at the latest', async () => {
  const { writes, out } = collector();
  const lines = linesTogether(out);
  for (const line of ['a\n', 'b\n', 'ü\n']) lines.write(line);
  expect(writes).toEqual([]);
  await turn();
  expect(writes).toEqual(['a\nb\nü\n']);
  lines.write('c\n');
  await turn();
  expect(writes).toEqual(['a\nb\nü\n', 'c\n']);
});

test('lines still waiting when the process ends are written then', () => {
  const { writes, out } = collector();
  const before = new Set(process.listeners('exit'));
  const lines = linesTogether(out);
  lines.write('last words\n');
  for (const listener of process.listeners('exit'))
    if (!before.has(listener)) listener.call(process, 0);
  expect(writes).toEqual(['last words\n']);
});
