import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { startTunnel } from './tunnel.ts';

const onLinux = process.platform === 'linux' ? describe : describe.skip;

onLinux('while a tunnel is cut', () => {
  test('no other listener of the same port at 127.0.0.1 answers for it', async () => {
    const tunnel = await startTunnel('postgresql://127.0.0.1:1/none');
    const { hostname, port } = new URL(tunnel.url);
    await tunnel.cut();
    const stranger = createServer();
    const taken = new Promise<string | undefined>((resolve) => {
      stranger.once('listening', () => resolve(undefined));
      stranger.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code));
    });
    stranger.listen(Number(port), '127.0.0.1');
    // Another test on this machine may listen there already: then that is the stranger.
    expect([undefined, 'EADDRINUSE']).toContain(await taken);
    const [refusal] = (await once(connect(Number(port), hostname), 'error')) as [Error];
    expect(refusal).toMatchObject({ code: 'ECONNREFUSED' });
    await tunnel.mend();
    await tunnel.cut();
    stranger.close();
  });
});
