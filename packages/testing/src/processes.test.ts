import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parseListening, startProgram } from '@paddock/processes/start-program';
import { waitFor } from './wait-for.ts';

describe('startProgram', () => {
  let folder: string;
  const write = async (name: string, code: string): Promise<string> => {
    const program = join(folder, name);
    await writeFile(program, code);
    return program;
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'programs-'));
  });

  afterAll(() => rm(folder, { recursive: true }));

  test('resolves when the program listens, with its port and its lines; the program sees only the given environment', async () => {
    const program = await write(
      'listens.mjs',
      `console.error('warming up');
      process.on('SIGTERM', () => { console.log('bye'); process.exit(3); });
      console.log(JSON.stringify({ message: 'listening', port: 4711, env: Object.keys(process.env).sort() }));
      setInterval(() => {}, 1000);`,
    );
    const seen: string[] = [];
    const service = await startProgram({
      program,
      env: { PATH: '/usr/bin', ONLY: 'this' },
      onLine: (line) => seen.push(line),
    });
    expect(service.port).toBe(4711);
    service.kill('SIGTERM');
    expect(await service.exited).toEqual({ code: 3, signal: null });
    service.kill('SIGTERM');
    expect(service.lines().toSorted()).toEqual([
      'bye',
      'warming up',
      '{"message":"listening","port":4711,"env":["ONLY","PATH"]}',
    ]);
    expect(seen).toEqual(service.lines());
  });

  test('rejects with the output of a program that ends before it listens', async () => {
    const program = await write(
      'fails.mjs',
      `console.error('PADDOCK_DATABASE_URL is missing'); process.exitCode = 78;`,
    );
    await expect(startProgram({ program, env: {} })).rejects.toThrow(
      /exit code 78[^]*PADDOCK_DATABASE_URL is missing/,
    );
  });

  test('the program is killed with the process that started it', async () => {
    const program = await write(
      'stays.mjs',
      `import { createServer } from 'node:http';
      const server = createServer((_, response) => response.end());
      server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ message: 'listening', port: server.address().port })));`,
    );
    const starter = `
      import { startProgram } from ${JSON.stringify(import.meta.resolve('@paddock/processes/start-program'))};
      console.log((await startProgram({ program: ${JSON.stringify(program)}, env: {} })).port);`;
    const parent = spawn(process.execPath, ['--input-type=module', '--eval', starter], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [port] = await once(createInterface({ input: parent.stdout }), 'line');
    expect(await answers(Number(port))).toBe(true);
    parent.kill('SIGKILL');
    await waitFor('the program to be gone', async () => !(await answers(Number(port))));
  });
});

test.each([
  ['{"level":"info","message":"listening","port":80}', { port: 80, healthPort: 80 }],
  ['{"message":"listening","port":80,"healthPort":81}', { port: 80, healthPort: 81 }],
  ['{"message":"listening"}', { port: undefined, healthPort: undefined }],
  ['{"message":"not listening"}', undefined],
  ['{"message":"listening"', undefined],
  ['listening', undefined],
])('the line %s says %j', (line, said) => {
  expect(parseListening(line)).toEqual(said);
});

async function answers(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}`).then(
    ({ ok }) => ok,
    () => false,
  );
}
