import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { examplePools, putPools } from '@paddock/testing/demand-rows';
import { emptyTables } from '@paddock/testing/empty-tables';
import { examplePayload } from '@paddock/testing/signed-delivery';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { ask } from '../scenes/ask.scene.ts';
import { whyJobEndpoint } from './explain-job.ts';

describe('a job that no pool serves (P5)', () => {
  const database = useTestDatabase();
  const why = (job: number) => ask(whyJobEndpoint, database.dbOf('console'), { job: String(job) });

  beforeAll(() => putPools(database.db, examplePools()));
  beforeEach(() => emptyTables(database.db, ['installation_events']));

  const LABELS = ['linux', 'gpu'];
  const deliver = (action: string, outcome: string, receivedAt: Date) => {
    const payload = examplePayload('workflow_job', action, {
      workflow_job: { id: 900, labels: LABELS },
      repository: { private: true },
    });
    return database.db
      .insertInto('installation_events')
      .values({
        source: 'webhook',
        event: `workflow_job.${action}`,
        outcome,
        job_id: 900,
        payload: JSON.stringify(outcome === 'repeated_body' ? {} : payload),
        received_at: receivedAt,
      })
      .execute();
  };

  test('is explained by its delivery and the pools in force', async () => {
    await deliver('queued', 'ignored_no_label', new Date());
    await deliver('queued', 'repeated_body', new Date());
    expect(await why(900)).toMatchObject({
      job: { id: 900, pool: null },
      state: 'not_served',
      reason: 'ignored_no_label',
      actor: 'author',
      sentence: 'No pool has all of its labels: the nearest, linux, lacks the label gpu.',
      place: null,
      evidence: { job: { labels: ['gpu', 'linux'] } },
    });
  });
});
