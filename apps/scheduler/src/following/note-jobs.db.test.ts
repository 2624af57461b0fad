import { expect, test } from '@jest/globals';
import { asRecord } from '@paddock/domain/pools/as-record';
import { callJson, objectPath } from '@paddock/kube/call';
import { waitFor } from '@paddock/testing/wait-for';
import { minutesAgo } from '@paddock/testing/demand-rows';
import { NAMESPACE } from '../scenes/scheduler.scene.ts';
import { useFollowedPods, useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';
import { followPods } from './follow-pods.ts';
import { noteJobs } from './note-jobs.ts';

const world = useSchedulerWorld({ playRunners: false });
const pods = useFollowedPods(world);

const { signal } = new AbortController();
const note = (noted = new Map<string, number>()) => noteJobs(pods.parts, noted, signal);
const patches = () => world.kube.report().calls['patch pods'] ?? 0;

/** A worker whose pod runs, and that has its job. */
async function assign(columns: Parameters<typeof pods.set>[1] = {}): Promise<string> {
  const { name } = await pods.makePod();
  await pods.relist();
  const { job_id } = await world.db
    .selectFrom('jobs')
    .select('job_id')
    .orderBy('job_id', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow();
  await pods.set(name, { assigned_at: new Date(), assigned_job_id: job_id, ...columns });
  return name;
}

async function jobOn(name: string): Promise<unknown> {
  const path = objectPath(NAMESPACE, 'pods', name);
  const { metadata } = asRecord(await callJson(world.cluster, { method: 'GET', path }));
  return asRecord(asRecord(metadata)['annotations'])['job.paddock.dev/repository'];
}

test('a pod says which job it runs, once the job is known, and is told once (H2)', async () => {
  const name = await assign();
  const { name: idle } = await pods.makePod();
  const before = patches();
  const noted = new Map<string, number>();
  await note(noted);
  await note(noted);
  expect([await jobOn(name), await jobOn(idle)]).toEqual(['acme/api', undefined]);
  expect(patches() - before).toBe(1);
  await pods.set(name, { status: 'completed', completed_at: minutesAgo(2) });
  await note(noted);
  expect([...noted]).toEqual([]);
});

test('one that has just ended is told too, an earlier one is not', async () => {
  const ended = await assign({ status: 'completed', completed_at: new Date() });
  const earlier = await assign({ assigned_at: minutesAgo(11) });
  await note();
  expect([await jobOn(ended), await jobOn(earlier)]).toEqual(['acme/api', undefined]);
});

test('a refusal holds up nothing, and is tried no more; without an answer it is tried again', async () => {
  const [refused, other] = [await assign(), await assign()];
  const noted = new Map<string, number>();
  world.kube.failNext({ verb: 'patch', path: '/pods/', status: 503 });
  await note(noted);
  expect([...noted]).toEqual([]);
  world.kube.failNext({ verb: 'patch', path: '/pods/', status: 403, reason: 'Forbidden' });
  const told = await world.growth('paddock_events_total{event="jobNotNoted"}', () => note(noted));
  expect(told).toBe(1);
  await note(noted);
  expect([await jobOn(refused), await jobOn(other)]).toEqual([undefined, 'acme/api']);
});

test('an API server that has just started refuses everybody: pods get their mark later (C8)', async () => {
  const name = await assign();
  const noted = new Map<string, number>();
  world.kube.failNext({ path: '/readyz', status: 500, times: 1_000 });
  world.kube.failNext({ status: 403, reason: 'Forbidden', times: 1_000 });
  const told = await world.growth('paddock_events_total{event="jobNotNoted"}', () => note(noted));
  expect([told, ...noted]).toEqual([0]);
  world.kube.clearFaults();
  await note(noted);
  expect(await jobOn(name)).toBe('acme/api');
});

test('a namespace that gives no answer keeps no other waiting', async () => {
  await assign({ namespace: 'silent', assigned_at: minutesAgo(1) });
  const other = await assign();
  world.kube.failNext({ verb: 'patch', path: '/namespaces/silent/', status: 503 });
  await note();
  expect(await jobOn(other)).toBe('acme/api');
});

test('a follower tells them by itself', async () => {
  const name = await assign();
  const ended = new AbortController();
  const following = followPods(pods.parts, ended.signal);
  expect(await waitFor('the note', () => jobOn(name))).toBe('acme/api');
  ended.abort();
  await following;
});
