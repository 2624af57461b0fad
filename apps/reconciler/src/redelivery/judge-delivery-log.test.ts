import { describe, expect, test } from '@jest/globals';
import type { WebhookDelivery } from '@paddock/github/deliveries';
import { gotThrough, hasArrived, judgeLog } from './judge-delivery-log.ts';

const at = (minute: number): Date => new Date(Date.UTC(2026, 0, 1, 12, minute));

const attempt = (overrides: Partial<WebhookDelivery>): WebhookDelivery => ({
  id: '1',
  guid: 'a',
  deliveredAt: at(0),
  status: 'failed to connect to host',
  statusCode: 0,
  isThrottled: false,
  event: 'workflow_job',
  action: 'queued',
  installationId: 7,
  repositoryId: 8,
  ...overrides,
});

describe('judging a delivery log (E1)', () => {
  test('a delivery without an attempt that got through is to be repeated by its most recent attempt', () => {
    const verdict = judgeLog([
      attempt({ id: '30', deliveredAt: at(3), statusCode: 503 }),
      attempt({ id: '10', deliveredAt: at(1), statusCode: 502 }),
      attempt({ id: '20', deliveredAt: at(2), statusCode: 0 }),
    ]);
    expect(verdict).toEqual({
      lastSuccess: undefined,
      deliveries: [
        expect.objectContaining({
          guid: 'a',
          isDelivered: false,
          deliveryId: '30',
          firstFailedAt: at(1),
          lastFailedAt: at(3),
          lastStatusCode: 503,
        }),
      ],
    });
  });

  test('one successful attempt is enough, at any place among failures', () => {
    const verdict = judgeLog([
      attempt({ id: '3', deliveredAt: at(3) }),
      attempt({ id: '2', deliveredAt: at(2), statusCode: 200 }),
      attempt({ id: '1' }),
    ]);
    expect(verdict).toMatchObject({
      deliveries: [{ guid: 'a', isDelivered: true }],
      lastSuccess: { id: '2' },
    });
  });

  test('events that change nothing for us are not repeated, but their success shows that our endpoint responds', () => {
    const verdict = judgeLog([
      attempt({ guid: 'push', event: 'push', action: null }),
      attempt({ guid: 'ping', event: 'ping', action: null, statusCode: 200, deliveredAt: at(9) }),
    ]);
    expect(verdict).toEqual({
      deliveries: [],
      lastSuccess: expect.objectContaining({ guid: 'ping' }),
    });
  });

  test.each(['workflow_job', 'installation', 'installation_repositories', 'installation_target'])(
    '%s is repeated',
    (event) => {
      expect(judgeLog([attempt({ event })]).deliveries).toHaveLength(1);
    },
  );

  test.each([
    ['5', '6', '4'],
    ['9', '10', '8'],
    ['3804004623172239365', '3804004623172239366', '199287304442'],
  ])('of the attempts %s, %s and %s in the same second the second is the most recent', (...ids) => {
    expect(judgeLog(ids.map((id) => attempt({ id }))).deliveries[0]?.deliveryId).toBe(ids[1]);
  });

  test.each([
    [200, '', true],
    [204, '', true],
    [299, '', true],
    [0, 'OK', true],
    [302, 'redirected', false],
    [0, '', false],
    [199, '', false],
    [400, '', false],
    [504, 'timed out', false],
  ])('status code %d with status %j got through: %s', (statusCode, status, expected) => {
    expect(gotThrough(attempt({ statusCode, status }))).toBe(expected);
  });
});

test('a delivery that GitHub calls successful has arrived if its row is here, or if it needs none (E1)', () => {
  const attempts = [
    attempt({ guid: 'code', statusCode: 204 }),
    attempt({ guid: 'word', status: 'OK' }),
    attempt({ guid: 'stored', statusCode: 200 }),
    attempt({ guid: 'given', event: 'installation_repositories', statusCode: 200 }),
    attempt({ guid: 'failed', event: 'installation_repositories' }),
  ];
  const arrived = judgeLog(attempts).deliveries.filter((one) =>
    hasArrived(one, new Set(['stored'])),
  );
  expect(arrived.map(({ guid }) => guid)).toEqual(['stored', 'given']);
});
