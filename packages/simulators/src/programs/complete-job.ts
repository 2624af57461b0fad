/* oxlint-disable node/no-process-env -- a program, which has no other input */
import { setTimeout as pause } from 'node:timers/promises';
import type { GitHubControl } from '../github/control.ts';
import { connectControl } from '../remote-control.ts';

/**
 * Queues a job at the simulated GitHub of `GITHUB_URL` and waits for its end. Exit code 0 if a
 * runner has completed it.
 */
const github = connectControl<GitHubControl>(process.env['GITHUB_URL'] ?? '');
let job = await github.queueJob({
  repo: 'acme/shop',
  labels: ['self-hosted', 'linux', 'x64'],
  durationMs: 3_000,
});
while (job.status !== 'completed') {
  await pause(250);
  const { jobs } = await github.truth();
  job = jobs.find(({ id }) => id === job.id) ?? job;
}
console.log(JSON.stringify(job));
process.exitCode = job.conclusion === 'success' && job.runnerName !== null ? 0 : 1;
