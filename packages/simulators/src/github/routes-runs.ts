import { covers, fullName, repositoriesOf } from './accounts.ts';
import { WORKFLOW } from './assignment.ts';
import { exampleOf, nodeId, objectField, repositoryFragment, simpleUser } from './fragments.ts';
import { jobJson } from './job-json.ts';
import { findJob, findRun } from './jobs.ts';
import { notFound } from './refusal.ts';
import {
  type Answer,
  type InstallationCall,
  type Route,
  forInstallation,
  listOf,
  idParam,
  reachableRepository,
  unlessKnown,
} from './route.ts';
import type { Job, Payload, Repository, Run, World } from './world.ts';

const RUNS = '/repos/:owner/:repo/actions/runs';

export const runRoutes: readonly Route[] = [
  forInstallation('get /repos/:owner/:repo', 'repos/get', (call) => ({
    status: 200,
    body: repositoryFragment(reachableRepository(call)),
  })),
  forInstallation(
    'get /installation/repositories',
    'apps/list-repos-accessible-to-installation',
    (call) =>
      listOf(call, 'repositories', repositoriesOf(call.world, call.installation), (repository) =>
        listedRepository(call.world, repository),
      ),
  ),
  forInstallation('get /repositories/:repository_id', 'repos/get-by-id', (call) => {
    const repository = call.world.repositories.get(idParam(call, 'repository_id'));
    if (repository === undefined || !covers(call.installation, repository)) throw notFound();
    return { status: 200, body: repositoryFragment(repository) };
  }),
  forInstallation(
    'get /repos/:owner/:repo/actions/jobs/:job_id',
    'actions/get-job-for-workflow-run',
    (call) => {
      const repository = reachableRepository(call);
      const job = findJob(call.world, idParam(call, 'job_id'));
      if (job.run.repository !== repository) throw notFound();
      return { status: 200, body: jobJson(call.world, job) };
    },
  ),
  forInstallation(`get ${RUNS}`, 'actions/list-workflow-runs-for-repo', listRuns),
  forInstallation(`get ${RUNS}/:run_id`, 'actions/get-workflow-run', (call) => ({
    status: 200,
    body: runJson(call.world, namedRun(call)),
  })),
  forInstallation(`get ${RUNS}/:run_id/jobs`, 'actions/list-jobs-for-workflow-run', (call) => {
    const run = namedRun(call);
    const jobs = call.query.get('filter') === 'all' ? run.jobs : latestJobs(run);
    return unlessKnown(
      call,
      listOf(call, 'jobs', jobs, (job) => jobJson(call.world, job)),
    );
  }),
];

/** The last push was when the newest run began that a push caused. */
function listedRepository(world: World, repository: Repository): Payload {
  const newest = [...world.runs.values()].findLast(
    (run) => run.repository === repository && run.event === 'push',
  );
  const fragment = repositoryFragment(repository);
  return newest === undefined ? fragment : { ...fragment, pushed_at: newest.createdAt };
}

/** Newest first. */
function listRuns(call: InstallationCall): Answer {
  const repository = reachableRepository(call);
  const wanted = call.query.get('status');
  const runs = [...call.world.runs.values()]
    .filter((run) => run.repository === repository && hasState(run, wanted))
    .toReversed();
  const json = (run: Run) => runJson(call.world, run);
  return unlessKnown(call, listOf(call, 'workflow_runs', runs, json));
}

function hasState(run: Run, wanted: string | null): boolean {
  const { status, conclusion } = runState(run);
  return wanted === null || wanted === status || wanted === conclusion;
}

function namedRun(call: InstallationCall): Run {
  const repository = reachableRepository(call);
  const run = findRun(call.world, idParam(call, 'run_id'));
  if (run.repository !== repository) throw notFound();
  return run;
}

const RUN_EXAMPLE = objectField(exampleOf('workflow_run', 0), 'workflow_run');

function runJson(world: World, run: Run): Payload {
  const repository = repositoryFragment(run.repository);
  const url = `${world.url}/repos/${fullName(run.repository)}/actions/runs/${run.id}`;
  const { status, conclusion, updatedAt } = runState(run);
  return {
    ...RUN_EXAMPLE,
    id: run.id,
    name: run.workflowName,
    node_id: nodeId('WFR', run.id),
    head_branch: WORKFLOW.branch,
    head_sha: run.headSha,
    path: WORKFLOW.path,
    display_title: run.workflowName,
    run_number: run.number,
    run_attempt: run.attempt,
    event: run.event,
    status,
    conclusion,
    url,
    jobs_url: `${url}/jobs`,
    html_url: `${world.url}/${fullName(run.repository)}/actions/runs/${run.id}`,
    created_at: run.createdAt,
    updated_at: updatedAt,
    run_started_at: run.createdAt,
    actor: simpleUser(run.actor),
    triggering_actor: simpleUser(run.actor),
    repository,
    head_repository: repository,
  };
}

/** GitHub's words for a run's state, from the jobs of its latest attempt. */
function runState(run: Run): Pick<Job, 'status' | 'conclusion'> & { readonly updatedAt: string } {
  const jobs = latestJobs(run);
  const updatedAt = jobs
    .map((job) => job.completedAt ?? job.startedAt)
    .reduce((a, b) => (a > b ? a : b), run.createdAt);
  const unfinished = jobs.filter((job) => job.status !== 'completed');
  if (unfinished.length === 0) {
    const bad =
      jobs.find((job) => job.conclusion === 'failure') ??
      jobs.find((job) => job.conclusion === 'cancelled');
    return { status: 'completed', conclusion: bad?.conclusion ?? 'success', updatedAt };
  }
  const started = jobs.some((job) => job.status === 'in_progress' || job.status === 'completed');
  const status = started
    ? 'in_progress'
    : unfinished.every((job) => job.status === 'waiting')
      ? 'waiting'
      : 'queued';
  return { status, conclusion: null, updatedAt };
}

/** For each job name, the job of the highest attempt. */
function latestJobs(run: Run): Job[] {
  const latest = new Map<string, Job>();
  for (const job of run.jobs) latest.set(job.name, job);
  return [...latest.values()];
}
