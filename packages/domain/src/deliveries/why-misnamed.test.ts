import { createRequire } from 'node:module';
import { describe, expect, test } from '@jest/globals';
import { HANDLED_EVENTS, parseDelivery } from './parse-delivery.ts';
import { whyMisnamed } from './parse-delivery.ts';

const require = createRequire(import.meta.url);
const published = require('@octokit/webhooks-examples') as readonly {
  readonly name: string;
  readonly examples: readonly object[];
}[];
const examples = published.flatMap(({ name, examples: of }) => of.map((body) => ({ name, body })));
const bodiesOf = (event: string) =>
  examples.filter(({ name }) => name === event).map(({ body }) => body);

describe('an event that does not fit its body', () => {
  test('is none of those that GitHub sends, of any kind', () => {
    expect(examples.length).toBeGreaterThan(200);
    expect(examples.filter(({ name, body }) => whyMisnamed(name, body) !== undefined)).toEqual([]);
  });

  test.each([
    'installation',
    'installation_repositories',
    'installation_target',
    'ping',
    'push',
    'made_up_event',
    'auth_attempt',
  ])('a job as %s is refused', (event) => {
    for (const body of bodiesOf('workflow_job')) {
      expect(parseDelivery(event, body)).toEqual({
        kind: 'malformed',
        problem: `it is called ${event}, but the body is a workflow_job payload`,
      });
    }
  });

  test.each([
    'workflow_job',
    'installation',
    'installation_repositories',
    'installation_target',
  ] as const)(
    'no body of another event is kept as %s, which is kept for ever or makes demand',
    (event) => {
      const taken = examples.filter(
        ({ name, body }) => name !== event && parseDelivery(event, body).kind !== 'malformed',
      );
      // What says nothing of a job's course is only recorded, and for a while.
      const harmful =
        event === 'workflow_job'
          ? taken.filter(({ body }) => parseDelivery(event, body).kind !== 'noted')
          : taken;
      expect(harmful).toEqual([]);
    },
  );

  test('a body that only mentions an installation, as all of an App do, is no event of installations', () => {
    const mention = { action: 'created', installation: { id: 1, node_id: 'x' } };
    expect(parseDelivery('star', mention)).toMatchObject({ kind: 'noted' });
    expect(parseDelivery('installation', mention)).toMatchObject({ kind: 'malformed' });
    expect(
      parseDelivery('installation_repositories', { ...mention, repositories_added: [] }),
    ).toMatchObject({ kind: 'malformed' });
  });

  test.each([
    ['installation', { installation: { account: {} } }, true],
    ['installation', { installation: { app_id: 1 } }, true],
    ['installation', { installation: null }, false],
    ['installation', { installation: 'x' }, false],
    ['installation', {}, false],
    ['installation', { installation: { account: {} }, repositories_added: [] }, false],
    ['installation', { installation: { account: {} }, repositories_removed: [] }, false],
    ['installation_repositories', { installation: { account: {} }, repositories_added: [] }, true],
    [
      'installation_repositories',
      { installation: { account: {} }, repositories_removed: [] },
      true,
    ],
    ['installation_repositories', { installation: { account: {} } }, false],
  ])('%s may be the event of %j: %s', (event, body, fits) => {
    expect(whyMisnamed(event, body) === undefined).toBe(fits);
  });

  test('every handled event has an example here', () => {
    const named = new Set(examples.map(({ name }) => name));
    expect(HANDLED_EVENTS.filter((event) => !named.has(event))).toEqual(['installation_target']);
  });
});
