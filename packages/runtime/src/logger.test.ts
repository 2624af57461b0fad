import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from '@jest/globals';

/**
 * A program that logs each line of its input. On stderr it says when it has survived the write of
 * the line.
 */
function program() {
  const source = `
    import { createInterface } from 'node:readline';
    import { createLogger } from '${new URL('logger.ts', import.meta.url).href}';
    const log = createLogger('test', 'info');
    for await (const line of createInterface({ input: process.stdin })) {
      log.info(line);
      // Called when the line has been written, or could not be; then the stream tells of it.
      await new Promise((resolve) => process.stdout.write('', () => setImmediate(resolve)));
      process.stderr.write('outlived ' + line + '.');
    }
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', source], {
    stdio: 'pipe',
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const ended = Promise.race([once(child, 'exit'), once(child, 'error')]).then(() =>
    Promise.reject(new Error(`it has ended: ${errors}`)),
  );
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  ended.catch(() => undefined);
  return {
    child,
    exited,
    async outlives(line: string): Promise<void> {
      child.stdin.write(`${line}\n`);
      while (!errors.includes(`outlived ${line}.`))
        await Promise.race([once(child.stderr, 'data'), ended]);
    },
  };
}

test('a service continues after the reader of its log has gone (H2)', async () => {
  const { child, exited, outlives } = program();
  const read = once(child.stdout, 'data');
  await outlives('first');
  expect(JSON.parse(String((await read)[0]))).toMatchObject({
    level: 'info',
    message: 'first',
    service: 'test',
  });

  child.stdout.destroy();
  await once(child.stdout, 'close');
  for (const line of ['second', 'third', 'fourth']) await outlives(line);
  child.stdin.end();
  expect(await exited).toBe(0);
});
