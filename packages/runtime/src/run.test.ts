import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from '@jest/globals';

/**
 * Runs a small program around `run` in another process, since signals and exit codes belong to a
 * process.
 */
function program(services: string, graceMs = 5_000) {
  const source = `
    import { run } from '${new URL('run.ts', import.meta.url).href}';
    import { pause } from '${new URL('pause.ts', import.meta.url).href}';
    const say = (level) => (message, fields) => console.log(JSON.stringify({ level, message, ...fields, error: fields?.error?.message }));
    const log = { info: say('info'), error: say('error'), warn: say('warn'), debug: say('debug') };
    const forever = (signal) => pause(1e8, signal);
    await run({ up: async (signal) => { console.log('up'); await forever(signal); }, ${services} }, { graceMs: ${graceMs}, log });
    console.log('disposed');
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  const exited = once(child, 'exit').then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as string | null,
  }));
  const said = async (text: string) => {
    while (!output.includes(text)) await once(child.stdout, 'data');
  };
  return { child, exited, said, output: () => output };
}

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s stops the services, the code after run() runs, and the exit code is 0 (H2)',
  async (signal) => {
    const { child, exited, said, output } = program('other: forever');
    await said('up');
    child.kill(signal);
    expect(await exited).toEqual({ code: 0, signal: null });
    expect(output()).toContain('disposed');
  },
);

test('a service that fails stops the others, and the exit code is 1', async () => {
  const { exited, output } = program('broken: async () => { throw new Error("no luck"); }');
  expect((await exited).code).toBe(1);
  expect(output()).toContain('"part":"broken","error":"no luck"');
});

test('a service that does not stop in time is named, and the exit code is 1', async () => {
  const { child, exited, said, output } = program(
    'deaf: () => new Promise(() => setInterval(() => {}, 1e6))',
    50,
  );
  await said('up');
  child.kill('SIGTERM');
  expect((await exited).code).toBe(1);
  expect(output()).toContain('"unfinished":["deaf"]');
});

test('a second signal ends the process at once, not at the end of the grace (H2)', async () => {
  const { child, exited, said, output } = program(
    'deaf: () => new Promise(() => setInterval(() => {}, 1e6))',
    30_000,
  );
  await said('up');
  child.kill('SIGTERM');
  await said('stopping');
  child.kill('SIGTERM');
  expect(await exited).toEqual({ code: 1, signal: null });
  expect(output()).not.toContain('not everything stopped in time');
});
