import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestDatabase } from '@paddock/testing/database';
import { signedDelivery } from '@paddock/testing/signed-delivery';
import { waitFor } from '@paddock/testing/wait-for';
import { createIngressDatabase, type Ingress, startIngress } from './scenes/ingress.scene.ts';

/** A reader finds all of the old file or all of the new one. */
const write = (path: string, text: string): void => {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
};

const config = (...apps: string[]) => `
github: { apps: [${apps.join(', ')}] }
pools: [{ name: small, labels: [self-hosted, linux], image: runner:1, namespace: runners }]
entities: { '*': {} }
`;

describe('webhook secrets and Apps that change while ingress runs (B2)', () => {
  let database: TestDatabase;
  let ingress: Ingress;
  const folder = mkdtempSync(join(tmpdir(), 'paddock-secrets-'));
  beforeAll(async () => {
    database = await createIngressDatabase();
  });
  afterAll(async () => {
    await database.drop();
    rmSync(folder, { recursive: true });
  });
  afterEach(() => ingress.end('SIGTERM'));

  const source = (name: string) => `{ file: ${join(folder, name)} }`;
  const app = (id: number, secret: string, previous?: string) =>
    `{ id: ${id}, webhookSecret: ${source(secret)}${previous === undefined ? '' : `, previousWebhookSecret: ${source(previous)}`} }`;
  const start = async (...apps: string[]): Promise<void> => {
    ingress = await startIngress({ ...database, config: config(...apps) });
    await ingress.untilReady();
  };
  const ping = async (secret: string, appId = 7): Promise<number> => {
    const payload = { zen: randomUUID() };
    const delivery = await signedDelivery({ event: 'ping', payload, secret, appId });
    return (await ingress.deliver(delivery)).status;
  };
  const untilAnswered = (status: number, secret: string, appId = 7) =>
    waitFor(`status ${status}`, async () => (await ping(secret, appId)) === status, {
      timeoutMs: 60_000,
    });

  test('a delivery is taken by the new secret of a changed file, and not by the old one', async () => {
    write(join(folder, 'secret'), 'the first secret');
    await start(app(7, 'secret'));
    expect(await ping('the first secret')).toBe(200);
    expect(await ping('the second secret')).toBe(401);
    write(join(folder, 'secret'), 'the second secret\n');
    await untilAnswered(200, 'the second secret');
    expect(await ping('the first secret')).toBe(401);
    expect(ingress.lines().join('\n')).not.toMatch(/the (first|second) secret/);
  });

  test('the previous secret comes and goes by the configuration file', async () => {
    write(join(folder, 'secret'), 'the second secret');
    write(join(folder, 'previous'), 'the first secret');
    await start(app(7, 'secret'));
    write(ingress.configPath, config(app(7, 'secret', 'previous')));
    await untilAnswered(200, 'the first secret');
    expect(await ping('the second secret')).toBe(200);
    write(ingress.configPath, config(app(7, 'secret')));
    await untilAnswered(401, 'the first secret');
    expect(await ping('the second secret')).toBe(200);
  });

  test('an App that is added is taken, and one that is removed is not any longer', async () => {
    write(join(folder, 'secret'), 'a secret of 7');
    write(join(folder, 'of-eight'), 'a secret of 8');
    await start(app(7, 'secret'));
    expect(await ping('a secret of 8', 8)).toBe(401);
    write(ingress.configPath, config(app(7, 'secret'), app(8, 'of-eight')));
    await untilAnswered(200, 'a secret of 8', 8);
    write(ingress.configPath, config(app(8, 'of-eight')));
    await untilAnswered(401, 'a secret of 7');
    expect(await ping('a secret of 8', 8)).toBe(200);
  });

  test('what is invalid is refused once, and the secrets before stay, while pools may be wrong', async () => {
    write(join(folder, 'secret'), 'a good secret');
    await start(app(7, 'secret'));
    write(join(folder, 'secret'), '');
    const warning = await waitFor('the warning', async () => {
      const { text } = await ingress.ask('/readyz');
      return text.startsWith('ready; changed GitHub Apps are refused') && text;
    });
    expect(warning).toContain('which is empty');
    expect(await ping('a good secret')).toBe(200);
    expect(await ingress.metric('paddock_apps_refused')).toBe(1);
    write(ingress.configPath, config(app(7, 'secret')).replace('labels', 'lable'));
    write(join(folder, 'secret'), 'another secret');
    await untilAnswered(200, 'another secret');
    expect((await ingress.ask('/readyz')).text).toBe('ready');
    expect(await ingress.metric('paddock_apps_refused')).toBe(0);
    expect(ingress.lines().filter((line) => line.includes('Apps refused'))).toHaveLength(1);
  });
});
