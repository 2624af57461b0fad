import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { connect, type Socket } from 'node:net';
import type { TestDatabase } from '@paddock/testing/database';
import { waitFor } from '@paddock/testing/wait-for';
import {
  createIngressDatabase,
  type Ingress,
  jobDelivery,
  PATIENT,
  startIngress,
} from './scenes/ingress.scene.ts';

const KB = 1_024;
const MB = 1_024 * KB;

/** Longer than it takes to send all of it: no body ends by its own time here. */
const ENDLESS = { ingress: { ...PATIENT.ingress, bodyTimeoutMs: 300_000 } };

/** A few hundred KB, as a job with very many steps. */
const largeDelivery = (jobId: number) =>
  jobDelivery('queued', jobId, { name: 'x'.repeat(600_000) });

describe('unsigned bodies that never end', () => {
  let database: TestDatabase;
  let ingress: Ingress;
  let sockets: Socket[] = [];

  beforeAll(async () => {
    database = await createIngressDatabase();
  });
  beforeEach(async () => {
    ingress = await startIngress({
      url: database.url,
      schema: database.schema,
      rules: ENDLESS,
    });
    await ingress.untilReady();
  });
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    sockets = [];
    await ingress.end('SIGKILL');
  });
  afterAll(() => database.drop());

  /** Sends all of a body but for its last byte; resolves once that is sent or refused. */
  const sendUnfinished = async (bytes: number) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const socket = connect(Number(new URL(ingress.base).port), '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
    socket.write(
      `POST /webhooks/github HTTP/1.1\r\nhost: x\r\nx-github-event: ping\r\nx-github-delivery: d\r\nx-hub-signature-256: sha256=${'0'.repeat(64)}\r\ncontent-length: ${bytes}\r\n\r\n`,
    );
    socket.write(Buffer.alloc(bytes - 1, 'x'), () => resolve());
    await promise;
  };

  const statuses = async (jobIds: readonly number[]) => {
    const answers: number[] = [];
    for (const jobId of jobIds)
      answers.push((await ingress.deliver(await jobDelivery('queued', jobId))).status);
    return answers;
  };

  // Each kind fills the room that the ones before it have left.
  test.each([
    [
      'large',
      [
        { count: 14, bytes: 24 * MB },
        { count: 20, bytes: MB },
        { count: 20, bytes: 64 * KB },
        { count: 20, bytes: 4 * KB },
      ],
    ],
    [
      'ordinary',
      [
        { count: 1_040, bytes: 256 * KB },
        { count: 20, bytes: 16 * KB },
        { count: 20, bytes: 4 * KB },
      ],
    ],
  ])(
    '%s ones leave signed deliveries their 200, at the settings that are the default (B5, B6)',
    async (_what, kinds) => {
      for (const { count, bytes } of kinds) {
        for (let sent = 0; sent < count; sent += 10)
          await Promise.all(Array.from({ length: 10 }, () => sendUnfinished(bytes)));
      }
      // The last ones may not be recognised as trickling yet.
      await waitFor('a delivery that is stored', async () => (await statuses([900]))[0] === 200);
      expect(await statuses([901, 902, 903, 904, 905])).toEqual([200, 200, 200, 200, 200]);
      await waitFor(
        'a large delivery that is stored',
        async () => (await ingress.deliver(await largeDelivery(906))).status === 200,
      );
      expect(await ingress.metric('paddock_held_bytes')).toBeLessThanOrEqual(256 * MB);
    },
  );
});
