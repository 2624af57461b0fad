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
    await once(stranger.listen(Number(port), '127.0.0.1'), 'listening');
    const [refusal] = (await once(connect(Number(port), hostname), 'error')) as [Error];
    expect(refusal).toMatchObject({ code: 'ECONNREFUSED' });
    await tunnel.mend();
    await tunnel.cut();
    stranger.close();
  });
});
