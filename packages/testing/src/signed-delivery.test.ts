import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verify } from '@octokit/webhooks-methods';
import { describe, expect, test } from '@jest/globals';
import { examplePayload, post, signedDelivery } from './signed-delivery.ts';

describe('examplePayload', () => {
  test('changes fields at any depth, and leaves other fields and the next caller’s payload alone', () => {
    const plain = examplePayload('workflow_job', 'completed');
    const changed = examplePayload('workflow_job', 'completed', {
      workflow_job: { id: 7, labels: ['paddock'], started_at: null },
      organization: undefined,
      installation: { id: 3 },
    });
    expect(changed).toMatchObject({
      action: 'completed',
      repository: plain['repository'],
      installation: { id: 3 },
    });
    expect(changed['workflow_job']).toMatchObject({ id: 7, labels: ['paddock'], started_at: null });
    expect(changed).not.toHaveProperty('organization');
    expect(examplePayload('workflow_job', 'completed')).toEqual(plain);
  });

  test('finds events without an action', () => {
    expect(examplePayload('ping', undefined)).toHaveProperty('zen');
  });

  test('lists the examples when there is none for the action', () => {
    expect(() => examplePayload('workflow_job', 'vanished')).toThrow(
      /"in_progress", "completed", "queued", "waiting"/,
    );
    expect(() => examplePayload('nothing', 'created')).toThrow(/there are: no examples/);
  });
});

describe('signedDelivery', () => {
  test('sends GitHub’s headers and a signature over the exact bytes', async () => {
    const received: { headers: NodeJS.Dict<string | string[]>; body: string }[] = [];
    const server = createServer((request, response) => {
      request.setEncoding('utf8').once('data', (body: string) => {
        received.push({ headers: request.headers, body });
        response.writeHead(202).end('taken');
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    try {
      const delivery = await signedDelivery({
        event: 'ping',
        payload: { zen: 'ä' },
        secret: 's3cret',
        appId: 12,
        guid: 'a-guid',
      });
      const answer = await post(`http://127.0.0.1:${port}/webhook`, delivery);
      expect([answer.status, await answer.text()]).toEqual([202, 'taken']);
      expect(received[0]?.headers).toMatchObject({
        'x-github-event': 'ping',
        'x-github-delivery': 'a-guid',
        'x-github-hook-installation-target-id': '12',
        'content-type': 'application/json',
      });
      const [{ headers, body } = { headers: {}, body: '' }] = received;
      expect(await verify('s3cret', body, String(headers['x-hub-signature-256']))).toBe(true);
    } finally {
      await once(server.close(), 'close');
    }
  });

  test('sends a text as it is, and lets headers be replaced', async () => {
    const { headers, body } = await signedDelivery({
      event: 'push',
      payload: '{"broken',
      secret: 's',
      appId: 1,
      headers: { 'x-hub-signature-256': 'forged' },
    });
    expect(body).toBe('{"broken');
    expect(headers['x-hub-signature-256']).toBe('forged');
    expect(headers['x-github-delivery']).toMatch(/^[0-9a-f-]{36}$/);
  });
});
