import { expect, test } from '@jest/globals';
import { fc } from '@paddock/testing/random-cases';
import { untilDisconnected } from '@paddock/testing/sessions';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import {
  type Ingress,
  createIngressDatabase,
  jobDelivery,
  startIngress,
} from './scenes/ingress.scene.ts';

const SENDERS = 16;
const ACTIONS = ['queued', 'in_progress', 'completed'] as const;
const RANK = { pending: 0, running: 1, completed: 2, failed: 2 };

interface Acknowledged {
  readonly guid: string;
  readonly jobId: number;
  readonly rank: number;
}

/**
 * Sends each job's deliveries one after the other until the service is gone; reports each that was
 * answered with 200.
 */
async function sendUntilGone(
  ingress: Ingress,
  firstJob: number,
  onAcknowledged: (delivery: Acknowledged) => void,
): Promise<void> {
  for (let jobId = firstJob; ; jobId++) {
    for (const [rank, action] of ACTIONS.entries()) {
      const delivery = await jobDelivery(action, jobId);
      const answer = await ingress.deliver(delivery).catch(() => undefined);
      if (answer === undefined) return;
      if (answer.status === 200)
        onAcknowledged({ guid: delivery.headers['x-github-delivery'] ?? '', jobId, rank });
    }
  }
}

const database = useTestDatabase(createIngressDatabase);

test('a service that is killed outright under load has stored every delivery that it acknowledged, and the job rows agree with them (A9, B5)', async () => {
  const moments = fc.sample(
    fc.record({ after: fc.integer({ min: 1, max: 120 }), ms: fc.integer({ min: 0, max: 20 }) }),
    {
      numRuns: 6,
    },
  );
  const acknowledged: Acknowledged[] = [];
  for (const [round, { after, ms }] of moments.entries()) {
    const ingress = await startIngress({ ...database });
    await ingress.untilReady();
    let count = 0;
    const note = (delivery: Acknowledged) => {
      acknowledged.push(delivery);
      if (++count === after) setTimeout(() => ingress.kill('SIGKILL'), ms);
    };
    const firstJob = (sender: number) => 1_000_000 * (round * SENDERS + sender + 1);
    await Promise.all(
      Array.from({ length: SENDERS }, (_, sender) =>
        sendUntilGone(ingress, firstJob(sender), note),
      ),
    );
    expect(await ingress.end('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' });
  }
  await untilDisconnected(database.db, 'ingress');

  const events = await database.db
    .selectFrom('installation_events')
    .select(['delivery_guid', 'job_id'])
    .execute();
  const jobs = await database.db.selectFrom('jobs').select(['job_id', 'status']).execute();
  const stored = new Set(events.map((event) => event.delivery_guid));
  const ranks = new Map(jobs.map((job) => [job.job_id, RANK[job.status]]));
  const missing = acknowledged.filter(
    ({ guid, jobId, rank }) => !stored.has(guid) || (ranks.get(jobId) ?? -1) < rank,
  );
  expect(missing).toEqual([]);
  // Neither without the other, acknowledged or not.
  expect(new Set(events.map((event) => event.job_id))).toEqual(new Set(ranks.keys()));
  expect(acknowledged.length).toBeGreaterThanOrEqual(
    moments.reduce((sum, { after }) => sum + after, 0),
  );
});
