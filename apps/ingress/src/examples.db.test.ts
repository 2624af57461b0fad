import { describe, expect, test } from '@jest/globals';
import { createRequire } from 'node:module';
import type { Outcome } from '@paddock/domain/deliveries/outcomes';
import { signed } from './scenes/ingress.scene.ts';
import { useIngress } from './scenes/use-ingress.scene.ts';

interface Example {
  readonly action?: string;
}
const require = createRequire(import.meta.url);
const published = require('@octokit/webhooks-examples') as readonly {
  readonly name: string;
  readonly examples: readonly Example[];
}[];

// Pools, entities and repositories so that the examples meet each rule.
const CONFIG = `
github: { apps: [{ id: 7, webhookSecret: { env: HOOK_SECRET } }] }
pools:
  - { name: gpu, labels: [self-hosted, gpu, db-app, dc-03], image: runner:1, namespace: runners }
  - { name: hosted, labels: [ubuntu-latest], image: runner:1, namespace: runners }
  - { name: k8s, labels: [self-hosted, k8s], image: runner:1, namespace: runners, publicRepositories: true }
entities: { octo-org: {}, Octocoders: {}, lineville: {} }
`;

const all = (count: number, outcome: Outcome) => Array.from({ length: count }, () => outcome);

/**
 * The outcomes of the examples of an event, in their order. Examples of all other events are only
 * recorded.
 */
const OUTCOMES: Readonly<Record<string, readonly Outcome[]>> = {
  workflow_job: [
    'job_stored',
    'ignored_public_repository',
    'ignored_public_repository',
    'ignored_public_repository',
    'ignored_entity',
    'ignored_public_repository',
    'job_stored',
    'job_waiting',
  ],
  installation: all(7, 'ok'),
  installation_repositories: all(3, 'ok'),
  ping: all(4, 'ok'),
};
const REDUCED: ReadonlySet<string> = new Set(['ignored_public_repository', 'ignored_entity']);

describe('the published examples of GitHub’s events', () => {
  const { database, ingress } = useIngress(CONFIG);

  test.each(published)(
    '$name: each is accepted, its row says what came of it and holds the whole payload (A4, B3)',
    async ({ name, examples }) => {
      const expected = OUTCOMES[name] ?? all(examples.length, 'ignored_event');
      for (const [index, example] of examples.entries()) {
        const guid = `${name}-${index}`;
        // Some are published twice, and the same body again would be a repetition.
        const payload = { ...example, published_as: guid };
        const answer = await ingress.deliver(await signed(name, payload, { guid }));
        expect({ guid, ...answer }).toMatchObject({ guid, status: 200, text: expected[index] });
        const row = await database.db
          .selectFrom('installation_events')
          .selectAll()
          .where('delivery_guid', '=', guid)
          .executeTakeFirstOrThrow();
        expect(row).toMatchObject({
          source: 'webhook',
          event: payload.action === undefined ? name : `${name}.${payload.action}`,
          outcome: expected[index],
          app_id: 7,
          payload_repaired: false,
        });
        const reduced = expect.objectContaining({
          action: payload.action,
          reduced_from: expect.objectContaining({ bytes: JSON.stringify(payload).length }),
        });
        expect(row.payload).toEqual(REDUCED.has(row.outcome) ? reduced : payload);
      }
      expect(expected).toHaveLength(examples.length);
    },
  );

  test('of all of them, two jobs have a row, and two entities an installation (A2, A12, B4)', async () => {
    const jobs = await database.db
      .selectFrom('jobs')
      .select(['job_id', 'status', 'wants_worker', 'k8s_pool', 'entity_name', 'runner_name'])
      .orderBy('job_id')
      .execute();
    expect(jobs).toEqual([
      {
        job_id: 2832853555,
        status: 'running',
        wants_worker: false,
        k8s_pool: 'gpu',
        entity_name: 'octo-org',
        runner_name: 'my runner',
      },
      // Queued years ago: a look-up comes before it is demand.
      {
        job_id: 12877621891,
        status: 'pending',
        wants_worker: false,
        k8s_pool: 'k8s',
        entity_name: 'lineville',
        runner_name: null,
      },
    ]);
    const installations = await database.db
      .selectFrom('installations')
      .select(['installation_id', 'login', 'repository_selection', 'suspended_at', 'deleted_at'])
      .where('repository_selection', 'is not', null)
      .orderBy('installation_id')
      .execute();
    expect(installations).toEqual([
      {
        installation_id: 2,
        login: 'octocat',
        repository_selection: 'selected',
        suspended_at: null,
        deleted_at: expect.any(Date),
      },
      {
        installation_id: 16598467,
        login: 'Codertocat',
        repository_selection: 'all',
        suspended_at: null,
        deleted_at: null,
      },
    ]);
  });

  test('installation_target, which has no example, gives the entity’s new name (A12)', async () => {
    const payload = {
      action: 'renamed',
      account: { id: 21031067, login: 'Recoder', updated_at: '2026-01-02T00:00:00Z' },
      changes: { login: { from: 'Codertocat' } },
      installation: { id: 16598467 },
      target_type: 'User',
    };
    expect(await ingress.deliver(await signed('installation_target', payload))).toMatchObject({
      status: 200,
      text: 'ok',
    });
    const login = await database.db
      .selectFrom('installations')
      .select('login')
      .where('installation_id', '=', 16598467)
      .executeTakeFirst();
    expect(login).toEqual({ login: 'Recoder' });
  });
});
