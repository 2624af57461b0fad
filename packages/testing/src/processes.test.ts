import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from '@jest/globals';
import { waitFor } from './wait-for.ts';

test('a program is killed with the process that started it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'programs-'));
  try {
    const program = join(folder, 'stays.mjs');
    await writeFile(
      program,
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
  } finally {
    await rm(folder, { recursive: true });
  }
});

async function answers(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}`).then(
    ({ ok }) => ok,
    () => false,
  );
}
