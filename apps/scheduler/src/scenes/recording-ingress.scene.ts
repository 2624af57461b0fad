import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { recordDeliveries } from '@paddock/db/deliveries/record-deliveries';
import { currentPoolsDocument } from '@paddock/db/pools/pools-documents';
import type { Database } from '@paddock/db/schema/tables';
import { deliveryToRecord } from '@paddock/db/scenes/delivery.scene';
import type { JsonObject } from '@paddock/testing/signed-delivery';
import type { Kysely } from 'kysely';
import { APP_ID } from './settings.scene.ts';

/**
 * An HTTP server on loopback that records deliveries as ingress does, one at a time. `alone` runs
 * something while no delivery is recorded. `refusals` has the errors of those it could not record.
 */
export async function startRecordingIngress(db: Kysely<Database>) {
  let last: Promise<unknown> = Promise.resolve();
  const alone = <T>(act: () => Promise<T>): Promise<T> => {
    const result = last.then(act);
    last = result.catch(() => undefined);
    return result;
  };
  const record = (event: string, guid: string, payload: string) =>
    alone(async () => {
      const pools = await currentPoolsDocument(db);
      if (pools === undefined) throw new Error('There is no pools document.');
      const body = JSON.parse(payload) as JsonObject;
      const delivery = deliveryToRecord(event, body, APP_ID, { guid, payload });
      await recordDeliveries(db, [delivery], pools);
    });
  const receive = async (request: IncomingMessage): Promise<void> => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += String(chunk);
    const { 'x-github-event': event, 'x-github-delivery': guid } = request.headers;
    await record(String(event), String(guid), body);
  };
  const refusals: unknown[] = [];
  const server = createServer((request, response) => {
    receive(request).then(
      () => response.writeHead(200).end(),
      (error: unknown) => {
        refusals.push(error);
        response.writeHead(500).end();
      },
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    record,
    alone,
    refusals,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
