import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { waitFor } from '@paddock/testing/wait-for';
import { exampleOf, type Payload } from './examples.ts';
import { startReceiver, type Receiver } from './start-receiver.ts';
import { startSmallWorld, type SmallWorld } from '../scenes/small-world.scene.ts';

describe('workflow_job payloads', () => {
  let receiver: Receiver;
  let world: SmallWorld;
  const sent = new Map<string, Payload>();

  beforeAll(async () => {
    receiver = await startReceiver();
    world = await startSmallWorld({ webhookUrl: receiver.url });
    await world.github.queueJob({
      repo: 'acme/api',
      labels: ['ubuntu-latest'],
      hosted: true,
      durationMs: 1,
    });
    await world.github.queueJob({
      repo: 'mona/tool',
      labels: ['self-hosted', 'gpu'],
      waiting: true,
    });
    await waitFor('the four deliveries', () => receiver.received.length === 4);
    for (const { action, body } of receiver.received)
      sent.set(String(action), JSON.parse(body) as Payload);
  });
  afterAll(async () => {
    await world.github.stop();
    await receiver.stop();
  });

  test.each([
    ['queued', 5],
    ['in_progress', 3],
    ['completed', 2],
    ['waiting', 7],
  ])('%s has the fields and types of GitHub’s own example %i', (action, index) => {
    const {
      organization: _organization,
      installation: _installation,
      ...example
    } = exampleOf('workflow_job', index);
    const { organization: _ours, installation, ...payload } = sent.get(action) ?? {};
    expect(shapeProblems(payload, example)).toEqual([]);
    expect(shapeProblems(installation, exampleOf('workflow_job', 5)['installation'])).toEqual([]);
  });

  test('an organisation’s payload names it, a person’s does not; both name the owner’s type and the installation', () => {
    expect(sent.get('queued')).toMatchObject({
      repository: {
        id: world.repositories.api,
        full_name: 'acme/api',
        private: true,
        owner: { login: 'acme', id: world.organization.id, type: 'Organization' },
      },
      organization: { login: 'acme', id: world.organization.id },
      installation: { id: world.organization.installationId },
    });
    expect(sent.get('waiting')).toMatchObject({
      repository: { full_name: 'mona/tool', owner: { login: 'mona', type: 'User' } },
      installation: { id: world.user.installationId },
    });
    expect(sent.get('waiting')).not.toHaveProperty('organization');
    const organization = sent.get('queued')?.['organization'];
    expect(shapeProblems(organization, exampleOf('workflow_job', 2)['organization'])).toEqual([]);
  });

  test('contain none of the example’s names and ids', () => {
    for (const payload of sent.values()) {
      const { sender: _, ...ours } = payload;
      expect(JSON.stringify(ours)).not.toMatch(
        /Codertocat|Octocoders|octo-org|lineville|289782451|186853002/,
      );
    }
  });

  test('say which repositories an installation lost and got back; a lost repository causes no more deliveries', async () => {
    const before = receiver.received.length;
    const { installationId } = world.organization;
    await world.github.selectRepositories(installationId, ['acme/site']);
    await world.github.queueJob({ repo: 'acme/api', labels: ['gpu'] });
    await world.github.selectRepositories(installationId, 'all');
    await waitFor('both deliveries', () => receiver.received.length === before + 2);
    await world.github.settled();
    const told = receiver.received.slice(before);
    const payloadOf = (wanted: string) =>
      JSON.parse(told.find(({ action }) => action === wanted)?.body ?? '{}') as Payload;
    expect(told.map(({ event }) => event)).toEqual([
      'installation_repositories',
      'installation_repositories',
    ]);
    expect(payloadOf('removed')).toMatchObject({
      repository_selection: 'selected',
      repositories_removed: [{ full_name: 'acme/api' }],
    });
    expect(payloadOf('added')).toMatchObject({
      repository_selection: 'all',
      repositories_added: [{ full_name: 'acme/api' }],
    });
    expect(payloadOf('added')).toMatchObject({ installation: { id: installationId } });
  });

  test('have job ids as long as GitHub’s', () => {
    expect(JSON.stringify(sent.get('queued'))).toMatch(/"workflow_job":\{"id":\d{11},/);
  });
});

/** Fields that only the newer examples have. */
const YOUNG_FIELDS = new Set(['has_discussions', 'allow_forking', 'custom_properties']);

/**
 * The paths at which the form of `actual` differs from the form of `example`. Null matches any
 * type: the job decides which fields are filled.
 */
function shapeProblems(actual: unknown, example: unknown, path = ''): string[] {
  if (actual === null || example === null) return [];
  if (Array.isArray(actual) && Array.isArray(example)) {
    const [sample] = example;
    return sample === undefined
      ? []
      : actual.flatMap((item, index) => shapeProblems(item, sample, `${path}[${index}]`));
  }
  if (isRecord(actual) && isRecord(example)) {
    const names = new Set([...Object.keys(actual), ...Object.keys(example)]);
    return [...names].flatMap((name) => {
      if (YOUNG_FIELDS.has(name)) return [];
      if (!(name in actual)) return [`${path}.${name} is missing`];
      if (!(name in example)) return [`${path}.${name} is not GitHub’s`];
      return shapeProblems(actual[name], example[name], `${path}.${name}`);
    });
  }
  return typeof actual === typeof example
    ? []
    : [`${path} is a ${typeof actual}, GitHub’s a ${typeof example}`];
}

function isRecord(value: unknown): value is Payload {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
