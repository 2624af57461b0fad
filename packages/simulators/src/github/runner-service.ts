import type { RunnerMessage } from './play-runner.ts';
import { coverageOf } from './excess.ts';
import { assignJobs, finishJob, loseRunnerOf } from './jobs.ts';
import { Refusal, notFound } from './refusal.ts';
import { randomText } from '../random.ts';
import {
  type Runner,
  type RunnerScope,
  type World,
  forgetRunner,
  isoNow,
  nextId,
  strike,
} from './world.ts';
import express, { type Request, type Response, Router } from 'express';

type NewRunner = Pick<Runner, 'name' | 'labels' | 'scope'> & { readonly groupId: number };

/**
 * Registers an ephemeral runner. Refuses a taken name in its scope (409) and an unknown group
 * (404).
 */
export function registerRunner(world: World, { name, labels, groupId, scope }: NewRunner): Runner {
  if (runnersOf(world.runners, scope).some((runner) => runner.name === name))
    throw new Refusal(409, 'Already exists - A runner with the name exists.');
  const group = scope.owner.runnerGroups.find((candidate) => candidate.id === groupId);
  if (group === undefined || (scope.repository !== undefined && !group.isDefault)) throw notFound();
  const runner: Runner = {
    id: nextId(world, 'runner'),
    name,
    scope,
    labels,
    lowerLabels: new Set(labels.map((label) => label.toLowerCase())),
    group,
    secret: randomText(48),
    registeredAt: world.now(),
    state: 'registered',
    configUsed: false,
    version: null,
    jobId: null,
    send: null,
  };
  const isCovered = coverageOf(world, runner);
  world.runnerRecords.set(runner.id, {
    id: runner.id,
    name,
    scope: describeScope(scope),
    registeredAt: isoNow(world),
    isCovered: isCovered(() => true) ? isCovered : null,
    jobIds: [],
    goneAt: null,
  });
  world.runners.set(runner.id, runner);
  return runner;
}

/**
 * The configuration that the runner application starts with: where to connect, as which runner,
 * with which secret.
 */
export function jitConfigOf(world: World, runner: Runner): string {
  return Buffer.from(
    JSON.stringify({ url: world.url, runnerId: runner.id, secret: runner.secret }),
  ).toString('base64');
}

export type NewSession = {
  readonly runnerId: number;
  readonly secret: string;
  readonly version: string;
};

/**
 * The runner connects: 409 when its configuration has been used before, 404 when the registration
 * is gone. A runner of an ended version connects too, and gets the end of its version instead of a
 * job.
 */
function openSession(
  world: World,
  { runnerId, secret, version }: NewSession,
  send: (message: RunnerMessage) => void,
): Runner {
  const runner = world.runners.get(runnerId);
  if (runner === undefined || runner.secret !== secret) throw notFound();
  if (runner.configUsed) throw new Refusal(409, 'A session for this runner already exists.');
  runner.configUsed = true;
  runner.version = version;
  runner.send = send;
  if (!isServed(world, version)) {
    runner.state = 'offline';
    strike(world, 'version_refused');
    send({ type: 'version_ended' });
    return runner;
  }
  runner.state = 'idle';
  assignJobs(world);
  return runner;
}

/** Whether runners of this version get jobs. A version that GitHub does not know is far too old. */
function isServed({ runnerVersions, runnerFaults, now }: World, version: string): boolean {
  const end = runnerVersions.get(version);
  return (
    !runnerFaults.refusesVersions && end !== undefined && (end === null || Date.parse(end) > now())
  );
}

/**
 * The runner's connection broke. An idle runner is offline; after a while GitHub fails the job of a
 * busy one.
 */
function closeSession(world: World, runner: Runner): void {
  runner.send = null;
  if (!world.runners.has(runner.id)) return;
  runner.state = 'offline';
  if (runner.jobId !== null) loseRunnerOf(world, runner.jobId);
}

/** The runner reports the end of its job. Its registration vanishes, because it is ephemeral. */
function reportCompletion(
  world: World,
  {
    runnerId,
    secret,
    result,
  }: Pick<NewSession, 'runnerId' | 'secret'> & {
    readonly result: 'success' | 'failure' | 'cancelled';
  },
): void {
  const runner = world.runners.get(runnerId);
  if (runner === undefined || runner.secret !== secret || runner.jobId === null) throw notFound();
  finishJob(world, runner.jobId, result);
}

/**
 * An owner of the repository or organisation, or our App, removes the registration. GitHub refuses
 * for a busy runner, unless GitHub's knowledge lags.
 */
export function deleteRunner(world: World, runner: Runner): void {
  if (runner.jobId !== null && !world.runnerFaults.busyLies) {
    throw new Refusal(
      422,
      `Runner "${runner.name}" is currently running a job and cannot be deleted.`,
    );
  }
  runner.send?.({ type: 'deleted' });
  if (runner.jobId === null) forgetRunner(world, runner);
  else finishJob(world, runner.jobId, 'failure', { killed: true });
}

export function describeScope({ owner, repository }: RunnerScope): string {
  return repository === undefined ? owner.login : `${owner.login}/${repository.name}`;
}

export function runnersOf(
  runners: ReadonlyMap<number, Runner>,
  { owner, repository }: RunnerScope,
): Runner[] {
  return [...runners.values()].filter(
    ({ scope }) => scope.owner === owner && scope.repository === repository,
  );
}

/**
 * The server for the runner application, which is ours too. A session is one answer that stays open
 * and brings one JSON message per line. When the connection breaks, the session is over.
 */
export function runnerConnection(world: World): Router {
  const router = Router();
  router.use(express.json());
  router.post(
    '/session',
    unlessRefused((body: NewSession, response) => {
      const runner = openSession(world, body, (message) =>
        response.write(`${JSON.stringify(message)}\n`),
      );
      response.flushHeaders();
      response.on('close', () => closeSession(world, runner));
    }),
  );
  router.post(
    '/complete',
    unlessRefused((body: Parameters<typeof reportCompletion>[1], response) => {
      reportCompletion(world, body);
      response.status(204).end();
    }),
  );
  return router;
}

function unlessRefused<B>(serve: (body: B, response: Response) => void) {
  return ({ body }: Request<object, unknown, B>, response: Response): void => {
    try {
      serve(body, response);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      response.status(error.status).json({ message: error.message });
    }
  };
}
