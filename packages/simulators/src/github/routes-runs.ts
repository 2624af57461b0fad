import { createHash } from 'node:crypto';
import { type Repository, covers, fullName, repositoriesOf } from './accounts.ts';
import { WORKFLOW } from './assignment.ts';
import { type Payload, nodeId, repositoryFragment, simpleUser } from './fragments.ts';
import { jobJson } from './job-json.ts';
import { latestJobs, runState, type Run } from './job.ts';
import { findJob, findRun } from './jobs.ts';
import {
  pageOf,
  notFound,
  idParam,
  type Answer,
  type InstallationCall,
  type Route,
} from './route.ts';
import { reachableRepository } from './reach.ts';
import type { World } from './world.ts';

const ACTIONS = '/repos/:owner/:repo/actions';

export const runRoutes: readonly Route[] = [
  {
    method: 'get',
    path: `/repos/:owner/:repo`,
    operation: 'repos/get',
    caller: 'installation',
    answer: (call) => ({ status: 200, body: repositoryFragment(reachableRepository(call)) }),
  },
  {
    method: 'get',
    path: '/installation/repositories',
    operation: 'apps/list-repos-accessible-to-installation',
    caller: 'installation',
    answer: (call) => {
      const repositories = repositoriesOf(call.world, call.installation);
      const { items, headers } = pageOf(call, repositories);
      const body = {
        total_count: repositories.length,
        repositories: items.map((repository) => listedRepository(call.world, repository)),
      };
      return { status: 200, headers, body };
    },
  },
  {
    method: 'get',
    path: '/repositories/:repository_id',
    operation: 'repos/get-by-id',
    caller: 'installation',
    answer: (call) => {
      const repository = call.world.repositories.get(idParam(call, 'repository_id'));
      if (repository === undefined || !covers(call.installation, repository)) throw notFound();
      return { status: 200, body: repositoryFragment(repository) };
    },
  },
  {
    method: 'get',
    path: `${ACTIONS}/jobs/:job_id`,
    operation: 'actions/get-job-for-workflow-run',
    caller: 'installation',
    answer: (call) => {
      const repository = reachableRepository(call);
      const job = findJob(call.world, idParam(call, 'job_id'));
      if (job.run.repository !== repository) throw notFound();
      return { status: 200, body: jobJson(call.world, job) };
    },
  },
  {
    method: 'get',
    path: `${ACTIONS}/runs`,
    operation: 'actions/list-workflow-runs-for-repo',
    caller: 'installation',
    answer: listRuns,
  },
  {
    method: 'get',
    path: `${ACTIONS}/runs/:run_id`,
    operation: 'actions/get-workflow-run',
    caller: 'installation',
    answer: (call) => ({ status: 200, body: runJson(call.world, namedRun(call)) }),
  },
  {
    method: 'get',
    path: `${ACTIONS}/runs/:run_id/jobs`,
    operation: 'actions/list-jobs-for-workflow-run',
    caller: 'installation',
    answer: (call) => {
      const run = namedRun(call);
      const jobs = call.query.get('filter') === 'all' ? run.jobs : latestJobs(run);
      const { items, headers } = pageOf(call, jobs);
      return unlessKnown(call, headers, {
        total_count: jobs.length,
        jobs: items.map((job) => jobJson(call.world, job)),
      });
    },
  },
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
  const { items, headers } = pageOf(call, runs);
  return unlessKnown(call, headers, {
    total_count: runs.length,
    workflow_runs: items.map((run) => runJson(call.world, run)),
  });
}

/**
 * A call with the ETag of an unchanged answer costs no budget. An ETag is valid only for the token
 * that got it.
 */
function unlessKnown(call: InstallationCall, headers: Answer['headers'], body: Payload): Answer {
  const etag = `W/"${createHash('sha256')
    .update(JSON.stringify([call.headers['authorization'], body]))
    .digest('hex')}"`;
  return call.headers['if-none-match'] === etag
    ? { status: 304, headers: { etag } }
    : { status: 200, headers: { ...headers, etag }, body };
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

function runJson(world: World, run: Run): Payload {
  const repository = repositoryFragment(run.repository);
  const api = `${world.url}/repos/${fullName(run.repository)}`;
  const url = `${api}/actions/runs/${run.id}`;
  const { status, conclusion, updatedAt } = runState(run);
  return {
    id: run.id,
    name: run.workflowName,
    node_id: nodeId('WFR', run.id),
    head_branch: WORKFLOW.branch,
    head_sha: run.headSha,
    path: WORKFLOW.path,
    display_title: `${run.workflowName} of main`,
    run_number: run.number,
    run_attempt: run.attempt,
    event: run.event,
    status,
    conclusion,
    workflow_id: 30_000_000 + run.repository.id,
    check_suite_id: run.id + 7,
    check_suite_node_id: nodeId('CS', run.id + 7),
    url,
    html_url: `${world.url}/${fullName(run.repository)}/actions/runs/${run.id}`,
    pull_requests: [],
    created_at: run.createdAt,
    updated_at: updatedAt,
    run_started_at: run.createdAt,
    actor: simpleUser(run.actor),
    triggering_actor: simpleUser(run.actor),
    jobs_url: `${url}/jobs`,
    logs_url: `${url}/logs`,
    check_suite_url: `${api}/check-suites/${run.id + 7}`,
    artifacts_url: `${url}/artifacts`,
    cancel_url: `${url}/cancel`,
    rerun_url: `${url}/rerun`,
    previous_attempt_url: run.attempt === 1 ? null : `${url}/attempts/${run.attempt - 1}`,
    workflow_url: `${api}/actions/workflows/${30_000_000 + run.repository.id}`,
    head_commit: {
      id: run.headSha,
      tree_id: run.headSha,
      message: 'A change',
      timestamp: run.createdAt,
      author: { name: run.actor.login, email: 'author@example.com' },
      committer: { name: run.actor.login, email: 'author@example.com' },
    },
    repository,
    head_repository: repository,
  };
}
