import { rulesVariable } from '@paddock/runtime/rules';
import { describe, expect, test } from '@jest/globals';
import { ENDPOINTS } from '@paddock/api/endpoints';
import { listInstallationsEndpoint } from '@paddock/api/installations/installations';
import { metricSum } from '@paddock/testing/metric-sum';
import { waitFor } from '@paddock/testing/wait-for';
import { untilBlocked } from '@paddock/testing/until-blocked';
import { sql } from 'kysely';
import { makeToken, useConsole } from './scenes/console.scene.ts';

/** Of one caller: half of the connections for answers. */
const PLACES = 6;

describe('the console', () => {
  // Statements wait here until the test lets them go.
  const { database, service } = useConsole(
    rulesVariable({ console: { statementTimeoutMs: 60_000 } }),
  );

  test('is alive and ready, and its metrics are at its other port (H1)', async () => {
    expect(await service.health('/healthz')).toEqual({ status: 200, text: 'ok' });
    expect(await service.health('/readyz')).toEqual({ status: 200, text: 'ready' });
    await service.ask('tokens');
    const { text } = await service.health('/metrics');
    expect(metricSum(text, 'paddock_api_requests_total{endpoint="none",status="401"}')).toBe(1);
  });

  test('answers what the schemas promise, to a token of its database', async () => {
    const token = await makeToken(database, { name: 'reader', access: 'read' });
    const answer = await service.ask('installations', token);
    expect(listInstallationsEndpoint.output.parse(await answer.json())).toEqual({
      items: [],
      next: null,
    });
    const description = await service.ask('openapi.json', token);
    expect(await description.json()).toMatchObject({ openapi: '3.1.0' });
  });

  test.each(ENDPOINTS.filter(({ method }) => method === 'GET'))(
    'its role may read what $name answers (A10)',
    async ({ name, path }) => {
      const token = await makeToken(database, { name: `asks-${name.toLowerCase()}` });
      const filled = path.slice('/api/v1/'.length).replaceAll(/\{\w+\}/g, '7');
      // Some need more input; without a right they would fail.
      const { status } = await service.ask(filled, token);
      expect([200, 400, 404]).toContain(status);
    },
  );

  test('makes, lists and revokes tokens over HTTP (F7)', async () => {
    const token = await makeToken(database, { name: 'admin' });
    const body = JSON.stringify({ name: 'made', access: 'read' });
    const made = (await (await service.ask('tokens', token, { method: 'POST', body })).json()) as {
      token: string;
      createdBy: string;
    };
    expect(made.createdBy).toBe('token admin');
    expect((await service.ask('installations', made.token)).status).toBe(200);
    expect((await service.ask('tokens/made', token, { method: 'DELETE' })).status).toBe(200);
    expect((await service.ask('installations', made.token)).status).toBe(401);
  });

  test('one caller whose statements wait keeps no other caller waiting', async () => {
    const greedy = await makeToken(database, { name: 'greedy' });
    const other = await makeToken(database, { name: 'other' });
    for (const token of [greedy, other]) await service.ask('tokens', token);
    const statuses: number[] = [];
    let requests: Promise<unknown>[] = [];
    await whileLocked(async () => {
      requests = Array.from({ length: 150 }, async () => {
        statuses.push((await service.ask('installations', greedy)).status);
      });
      await waitFor(
        'the waiting places of one caller to be taken',
        () => statuses.length >= 50 - PLACES,
      );
      expect(statuses).toEqual(statuses.map(() => 503));
      expect((await service.ask('tokens', other)).status).toBe(200);
    });
    await Promise.all(requests);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(PLACES);
    expect(new Set(statuses)).toEqual(new Set([200, 503]));
  });

  test('ends after its last answer', async () => {
    const token = await makeToken(database, { name: 'last' });
    let last: Promise<Response> | undefined;
    await whileLocked(async () => {
      last = service.ask('installations', token);
      await untilBlocked(database.db, { applicationName: 'paddock-console' });
      service.kill('SIGTERM');
      await waitFor(
        'the service to stop',
        async () => (await service.health('/readyz')).status === 503,
      );
    });
    expect((await last)?.headers.get('connection')).toBe('close');
    expect((await last)?.status).toBe(200);
    expect(await service.exited).toEqual({ code: 0, signal: null });
  });

  /** Meanwhile statements that list installations wait. */
  const whileLocked = (act: () => Promise<void>): Promise<void> =>
    database.db.transaction().execute(async (trx) => {
      await sql`lock table installations in access exclusive mode`.execute(trx);
      await act();
    });
});
