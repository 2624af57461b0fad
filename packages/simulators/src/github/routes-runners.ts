import { Refusal, notFound } from './refusal.ts';
import {
  type Answer,
  type InstallationCall,
  type Route,
  forInstallation,
  listOf,
  idParam,
  textParam,
  reachableScope,
} from './route.ts';
import { deleteRunner, jitConfigOf, registerRunner, runnersOf } from './runner-service.ts';
import { type Payload, type Runner, type World, strike } from './world.ts';

/** Runners of organisations and of repositories: the same endpoints under two paths. */
export const runnerRoutes: readonly Route[] = [
  ...routesUnder('/orgs/:org', 'org'),
  ...routesUnder('/repos/:owner/:repo', 'repo'),
];

function routesUnder(prefix: string, kind: 'org' | 'repo'): Route[] {
  const runners = `${prefix}/actions/runners`;
  return [
    forInstallation(
      `post ${runners}/generate-jitconfig`,
      `actions/generate-runner-jitconfig-for-${kind}`,
      generateJitConfig,
      { resource: 'actions_runner_registration' },
    ),
    forInstallation(`get ${runners}`, `actions/list-self-hosted-runners-for-${kind}`, listRunners),
    forInstallation(
      `get ${runners}/deprecations/:version`,
      `actions/get-runner-version-deprecation-for-${kind}`,
      answerVersion,
    ),
    forInstallation(
      `get ${runners}/:runner_id`,
      `actions/get-self-hosted-runner-for-${kind}`,
      (call) => ({ status: 200, body: runnerJson(call.world, namedRunner(call)) }),
    ),
    forInstallation(
      `delete ${runners}/:runner_id`,
      `actions/delete-self-hosted-runner-from-${kind}`,
      (call) => {
        deleteRunner(call.world, namedRunner(call));
        return { status: 204 };
      },
    ),
  ];
}

function generateJitConfig(call: InstallationCall): Answer {
  const scope = reachableScope(call);
  const { name, labels, runner_group_id: groupId } = call.body;
  if (typeof name !== 'string' || name === '' || name.length > 64)
    throw new Refusal(422, 'Name is missing or longer than 64 characters.');
  if (typeof groupId !== 'number') throw new Refusal(422, 'Runner group id is missing.');
  if (!isLabels(labels)) throw new Refusal(422, 'Labels must be 1 to 100 texts.');
  const runner = registerRunner(call.world, { name, labels, groupId, scope });
  return {
    status: 201,
    body: {
      runner: runnerJson(call.world, runner),
      encoded_jit_config: jitConfigOf(call.world, runner),
    },
  };
}

function isLabels(value: unknown): value is string[] {
  return (
    Array.isArray(value) &&
    value.length >= 1 &&
    value.length <= 100 &&
    value.every((label) => typeof label === 'string' && label !== '')
  );
}

function listRunners(call: InstallationCall): Answer {
  const name = call.query.get('name');
  const runners = runnersOf(call.world.runners, reachableScope(call)).filter(
    (runner) => name === null || runner.name === name,
  );
  return listOf(call, 'runners', runners, (runner) => runnerJson(call.world, runner));
}

/**
 * When a version of the runner ends. GitHub leaves out the end of registrations, and answers 404
 * for a version that it does not know.
 */
function answerVersion(call: InstallationCall): Answer {
  reachableScope(call);
  const version = textParam(call, 'version');
  const end = call.world.runnerVersions.get(version);
  if (end === undefined) throw notFound();
  return { status: 200, body: { runner_version: version, runtime_deprecates_at: end } };
}

function namedRunner(call: InstallationCall): Runner {
  const id = idParam(call, 'runner_id');
  const runner = runnersOf(call.world.runners, reachableScope(call)).find((each) => each.id === id);
  if (runner === undefined) throw notFound();
  return runner;
}

const SYSTEM_LABELS = new Set(['self-hosted', 'linux', 'x64', 'arm64']);

function runnerJson(world: World, runner: Runner): Payload {
  const seen = runner.configUsed;
  const isHidden = runner.jobId !== null && world.runnerFaults.busyLies;
  if (isHidden) strike(world, 'busy_hidden');
  return {
    id: runner.id,
    runner_group_id: runner.group.id,
    name: runner.name,
    os: seen ? 'linux' : 'unknown',
    status: runner.state === 'idle' || runner.state === 'busy' ? 'online' : 'offline',
    busy: runner.jobId !== null && !isHidden,
    ephemeral: true,
    version: runner.version,
    labels: runner.labels.map((name, index) => ({
      id: index + 1,
      name,
      type: SYSTEM_LABELS.has(name.toLowerCase()) ? 'read-only' : 'custom',
    })),
  };
}
