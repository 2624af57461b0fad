import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFileReading } from './file-reading.ts';
import { followCertificates } from './follow-certificates.ts';
import { createMetrics } from './metrics.ts';

describe('files that are read again while a service runs (B4)', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'paddock-files-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);

  /** The file `first` names another one, whose text counts. */
  function start() {
    const refused: string[] = [];
    const seen = { readings: 0, accepted: 0 };
    const reading = createFileReading({
      read: (readFile, problems) => {
        seen.readings++;
        try {
          const text = readFile(join(folder, readFile(join(folder, 'first'))));
          if (text === 'wrong') problems.push('it is wrong');
          return text;
        } catch (error) {
          problems.push(String(error));
          return undefined;
        }
      },
      onRefused: (problems) => void refused.push(...problems),
      onAccepted: () => void seen.accepted++,
    });
    return { ...reading, refused, seen };
  }

  test('are read once for each change of any of them', async () => {
    write('first', 'a');
    write('a', 'one');
    const { look, seen } = start();
    expect(await look()).toBe('one');
    expect(await look()).toBeUndefined();
    write('a', 'two');
    expect(await look()).toBe('two');
    write('b', 'three');
    expect(await look()).toBeUndefined();
    write('first', 'b');
    expect(await look()).toBe('three');
    write('a', 'four');
    expect(await look()).toBeUndefined();
    expect(seen).toEqual({ readings: 3, accepted: 3 });
  });

  test('are refused once for each state, also one that names a file which comes later', async () => {
    write('first', 'a');
    write('a', 'wrong');
    const { look, refusal, refused } = start();
    expect([await look(), await look()]).toEqual([undefined, undefined]);
    expect([refused, refusal()]).toEqual([['it is wrong'], 'it is wrong']);
    write('first', 'late');
    expect([await look(), await look()]).toEqual([undefined, undefined]);
    expect(refused).toEqual(['it is wrong', expect.stringContaining('ENOENT')]);
    write('late', 'good');
    expect(await look()).toBe('good');
    expect(refusal()).toBeUndefined();
  });

  test('are followed through the link of a mounted Secret', async () => {
    for (const revision of ['..1', '..2']) {
      mkdirSync(join(folder, revision));
      write(join(revision, 'key'), revision);
    }
    write('first', 'key');
    symlinkSync('..1', join(folder, '..data'));
    symlinkSync(join('..data', 'key'), join(folder, 'key'));
    const { look } = start();
    expect(await look()).toBe('..1');
    symlinkSync('..2', join(folder, '..data_tmp'));
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
    expect(await look()).toBe('..2');
  });

  test('tell of certificates that Node.js has not read, until they are as at the start (B2)', async () => {
    const path = join(folder, 'ca.pem');
    write('ca.pem', 'one');
    const said: string[] = [];
    const say = (message: string) => void said.push(message);
    const log = { error: say, warn: say, info: say, debug: say };
    const told = { log, metrics: createMetrics() };
    const { run, warning } = followCertificates({ NODE_EXTRA_CA_CERTS: path }, told);
    const look = async () => {
      const stop = new AbortController();
      const looking = run(stop.signal);
      stop.abort();
      await looking;
      return warning();
    };
    expect(await look()).toBeUndefined();
    write('ca.pem', 'two');
    expect([await look(), await look()]).toEqual(
      [1, 2].map(() => expect.stringContaining('restart the service to trust it') as unknown),
    );
    expect(said).toHaveLength(1);
    write('ca.pem', 'one');
    expect(await look()).toBeUndefined();
  });
});
