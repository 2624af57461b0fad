import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rulesVariable } from '@paddock/runtime/rules';
import { startService } from '@paddock/testing/processes';
import { post, type SignedDelivery, signedDelivery } from '@paddock/testing/signed-delivery';
import { waitFor } from '@paddock/testing/wait-for';
import { createIngressDatabase, PATIENT } from './ingress.scene.ts';
import { expect } from '@jest/globals';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
/** GitHub’s published examples, by event. */
export const definitions = require('@octokit/webhooks-examples') as readonly {
  readonly name: string;
  readonly examples: readonly object[];
}[];

const CONFIG = `
github:
  apps:
    - { id: 7, webhookSecret: { env: SECRET_7 }, previousWebhookSecret: { env: OLD_SECRET_7 } }
    - { id: 8, webhookSecret: { env: SECRET_8 } }
    - { id: 9 }
pools:
  - { name: small, labels: [self-hosted, linux], image: runner:1, namespace: runners }
  - { name: k8s, labels: [self-hosted, k8s], image: runner:1, namespace: runners, publicRepositories: true }
entities: { '*': {} }
`;
export const SECRETS = {
  SECRET_7: 'secret of 7',
  OLD_SECRET_7: 'older secret of 7',
  SECRET_8: 'secret of 8',
};
export const LIMIT = 3_100_000;

export const sign = (
  payload: unknown,
  more: {
    event?: string;
    secret?: string;
    appId?: number;
    guid?: string;
    headers?: Record<string, string>;
  } = {},
) => signedDelivery({ event: 'ping', payload, secret: SECRETS.SECRET_7, appId: 7, ...more });

export const without = ({ headers, body }: SignedDelivery, name: string): SignedDelivery => ({
  headers: Object.fromEntries(Object.entries(headers).filter(([header]) => header !== name)),
  body,
});

export const hmacOf = (body: string) =>
  `sha256=${createHmac('sha256', SECRETS.SECRET_7).update(body).digest('hex')}`;

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: { get(name: string): string | null };
}

export type SignedIngress = Awaited<ReturnType<typeof startSignedIngress>>;

/** The service as a process, for three Apps, two of them with secrets. */
export async function startSignedIngress() {
  const database = await createIngressDatabase(CONFIG);
  const folder = mkdtempSync(join(tmpdir(), 'paddock-ingress-'));
  writeFileSync(join(folder, 'paddock.yaml'), CONFIG);
  const ingress = await startService({
    app: 'ingress',
    env: {
      DATABASE_URL: database.url,
      PADDOCK_SCHEMA: database.schema,
      PADDOCK_CONFIG: join(folder, 'paddock.yaml'),
      PADDOCK_PUBLIC_PORT: '0',
      PADDOCK_HEALTH_PORT: '0',
      PADDOCK_HTTP_HOST: '127.0.0.1',
      ...rulesVariable(PATIENT, { ingress: { maxBodyBytes: LIMIT } }),
      ...SECRETS,
    },
  });
  const base = `http://127.0.0.1:${ingress.port}`;
  const health = `http://127.0.0.1:${ingress.healthPort}`;
  await waitFor('readiness', async () => (await fetch(`${health}/readyz`)).status === 200);
  const send = async (delivery: SignedDelivery, path = '/webhooks/github'): Promise<Answer> => {
    const answer = await post(base + path, delivery);
    return { status: answer.status, text: (await answer.text()).trim(), headers: answer.headers };
  };
  const events = () =>
    database.db.selectFrom('installation_events').selectAll().orderBy('id').execute();
  const expectNothingStored = async () => {
    expect(await events()).toEqual([]);
    expect(await database.db.selectFrom('jobs').select('job_id').execute()).toEqual([]);
  };
  return {
    database,
    base,
    health,
    lines: () => ingress.lines(),
    send,
    events,
    expectNothingStored,
    async forget(): Promise<void> {
      await database.db.deleteFrom('installation_events').execute();
      await database.db.deleteFrom('jobs').execute();
    },
    async stop(): Promise<void> {
      ingress.kill('SIGTERM');
      await ingress.exited;
      await database.drop();
      rmSync(folder, { recursive: true });
    },
  };
}
