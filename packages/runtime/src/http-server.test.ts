import { expect, test } from '@jest/globals';
import { ConfigError } from './config-error.ts';
import { listenHttp } from './http-server.ts';

test('a taken port is a configuration problem that names the port (H1)', async () => {
  const first = await listenHttp(() => undefined, { port: 0, host: '127.0.0.1' });
  const second = listenHttp(() => undefined, { port: first.port, host: '127.0.0.1' });
  await expect(second).rejects.toThrow(ConfigError);
  await expect(second).rejects.toThrow(
    `It is not possible to listen on port ${first.port} of 127.0.0.1: listen EADDRINUSE`,
  );
  await first.close();
});
