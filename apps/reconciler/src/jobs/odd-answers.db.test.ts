import { connectSmallWorld } from '@paddock/github/scenes/connect-small-world.scene';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import type { GitHub } from '@paddock/github/connect';
import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { useDiscoveryScene } from '../scenes/use-scenes.scene.ts';

const scene = useDiscoveryScene(useTestDatabase());

/** A GitHub whose lists of jobs say something else of one job. */
function sayingOf(jobId: number, changes: object): GitHub {
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const answer = await globalThis.fetch(input, init);
    if (!new URL(answer.url).pathname.endsWith('/jobs')) return answer;
    const body = JSON.parse(await answer.text()) as { jobs: { id: number }[] };
    for (const job of body.jobs) if (job.id === jobId) Object.assign(job, changes);
    return new Response(JSON.stringify(body), answer);
  };
  return connectSmallWorld(scene.world, { fetch });
}

const HOSTILE = { name: 'a\u0000b\ud800', runner_name: '\u0000', labels: ['linux'] };

/** The stored job, and the event that brought it. */
const stored = async (jobId: number) => [
  await scene.db
    .selectFrom('jobs')
    .select(['job_name', 'status'])
    .where('job_id', '=', jobId)
    .execute(),
  (
    await sql`select payload_repaired as repaired, payload->'workflow_job'->>'name' as name from installation_events
    where job_id = ${jobId}`.execute(scene.db)
  ).rows,
];

describe('characters that JSONB cannot hold (B9)', () => {
  const name = 'a\ufffdb\ufffd';

  test('keep no job from being discovered, nor the others (E2)', async () => {
    const hostile = await scene.queue('acme/api');
    const other = await scene.queue('mona/tool');
    expect(await scene.discover({ github: sayingOf(hostile, HOSTILE) })).toMatchObject({
      found: 2,
      unanswered: 0,
      incomplete: 0,
    });
    expect(await scene.jobIds()).toEqual([hostile, other]);
    expect(await stored(hostile)).toEqual([
      [{ job_name: name, status: 'pending' }],
      [{ repaired: true, name }],
    ]);
  });

  test('keep no job from being looked up, nor the others (E4)', async () => {
    const hostile = await scene.addJob();
    const other = await scene.addJob();
    for (const job of [hostile, other]) await scene.world.github.cancelJob(job);
    expect(await scene.lookUp({ github: sayingOf(hostile, HOSTILE) })).toMatchObject({
      stated: 2,
      unanswered: 0,
    });
    expect(await stored(hostile)).toEqual([
      [expect.objectContaining({ status: 'completed' })],
      [{ repaired: true, name }],
    ]);
  });
});

describe('an answer for a job that lacks a necessary field', () => {
  const without = { name: null };

  test('leaves the other jobs of its repository alone, and is seen once it is whole (E2)', async () => {
    const odd = await scene.queue('acme/api');
    const other = await scene.queue('acme/api');
    expect(await scene.discover({ github: sayingOf(odd, without) })).toMatchObject({
      found: 1,
      incomplete: 1,
    });
    expect(await scene.jobIds()).toEqual([other]);
    await scene.passMinutes(6);
    expect(await scene.discover()).toMatchObject({ found: 1, incomplete: 0 });
    expect(await scene.jobIds()).toEqual([odd, other]);
  });

  test('leaves the jobs of other runs alone, and comes to its turn again (E4)', async () => {
    const odd = await scene.addJob();
    const other = await scene.addJob();
    for (const job of [odd, other]) await scene.world.github.cancelJob(job);
    expect(await scene.lookUp({ github: sayingOf(odd, without) })).toMatchObject({
      stated: 1,
      unanswered: 1,
    });
    expect(await scene.row(other)).toMatchObject({ status: 'completed' });
    expect(await scene.row(odd)).toMatchObject({
      status: 'pending',
      lookup_due_at: expect.any(Date),
    });
  });
});
