import { listenHttp } from '@paddock/runtime/http-server';
import express, { Router } from 'express';
import { CONTROL_PATH, serveControl } from '../remote-control.ts';
import { createControl, type GitHubControl } from './control.ts';
import { manifestFlow } from './manifest-flow.ts';
import { bucketOf } from './rate-limits.ts';
import { type Answer, type InstallationCall, forInstallation } from './route.ts';
import { appRoutes } from './routes-app.ts';
import { runnerGroupRoutes } from './routes-runner-groups.ts';
import { runnerRoutes } from './routes-runners.ts';
import { runRoutes } from './routes-runs.ts';
import { runnerConnection } from './runner-service.ts';
import { serveRoute } from './serve-route.ts';
import { type RateResource, type SimulatedApp, type World, createWorld, isoNow } from './world.ts';

export type AppOptions = {
  readonly appId: number;
  readonly publicKeyPem: string;
  readonly webhookSecret: string;
  /** `setApp` may set it later; until then every delivery is recorded as failed. */
  readonly webhookUrl?: string | null;
};

export type GitHubSimulatorOptions = {
  readonly apps: readonly AppOptions[];
  /** A free one by default. */
  readonly port?: number;
  /** The address to listen on; without it only this machine reaches the simulator. */
  readonly host?: string;
  /** The base address that runners get; where it listens by default. */
  readonly url?: string;
  /** Seeds GitHub's choices: which runner, which delivery fails. */
  readonly seed?: number;
  readonly now?: () => number;
  /**
   * How long a refusal that names a wait may take to reach its caller and the caller's other
   * processes. Calls within this time may have begun without knowledge of the wait. A quarter of a
   * second by default; a process on a busy machine needs longer.
   */
  readonly onItsWayMs?: number;
  /** How long the receiver of a delivery may take; GitHub's 10 seconds by default. */
  readonly deliveryTimeoutMs?: number;
};

export type GitHubSimulator = GitHubControl & {
  /** Base address of the API. The same API is under `/api/v3`, as on an Enterprise Server. */
  readonly url: string;
  /** Ends all connections, sessions of runners included. */
  readonly stop: () => Promise<void>;
};

/** Starts GitHub as an HTTP server. */
export async function startGitHubSimulator(
  options: GitHubSimulatorOptions,
): Promise<GitHubSimulator> {
  const {
    seed = 1,
    now = Date.now,
    onItsWayMs = 250,
    deliveryTimeoutMs = 10_000,
    port = 0,
    host = '127.0.0.1',
  } = options;
  const world = createWorld({ seed, now, onItsWayMs, deliveryTimeoutMs });
  for (const app of options.apps) world.apps.set(app.appId, simulatedApp(world, app));
  const control = createControl(world);

  const api = apiRouter(world);
  const application = express();
  application.disable('x-powered-by');
  application.post(`${CONTROL_PATH}:name`, (request, response) =>
    serveControl(control, request.params.name, request, response),
  );
  application.use('/_runner', runnerConnection(world));
  application.use(manifestFlow(world));
  application.use('/api/v3', api);
  application.use(api);

  const http = await listenHttp(application, { port, host });
  world.url = options.url ?? `http://127.0.0.1:${http.port}`;

  const stop = async () => {
    for (const timer of world.timers) clearTimeout(timer);
    const closed = http.close();
    http.server.closeAllConnections();
    await closed;
  };
  return { ...control, url: world.url, stop };
}

function apiRouter(world: World): Router {
  const router = Router();
  router.use(express.json());
  for (const route of [...appRoutes, ...runnerRoutes, ...runnerGroupRoutes, ...runRoutes, limits])
    serveRoute(router, world, route);
  router.use(
    (_request, response) =>
      void response
        .status(404)
        .json({ message: 'Not Found', documentation_url: 'https://docs.github.com/rest' }),
  );
  return router;
}

function simulatedApp(world: World, app: AppOptions): SimulatedApp {
  return {
    webhookUrl: null,
    ...app,
    slug: `paddock-${app.appId}`,
    permissions: {
      actions: 'read',
      administration: 'write',
      metadata: 'read',
      organization_self_hosted_runners: 'write',
    },
    accepted: null,
    events: ['workflow_job'],
    createdAt: isoNow(world),
  };
}

const limits = forInstallation('get /rate_limit', 'rate-limit/get', getLimits, { isFree: true });

function getLimits({ world, installation }: InstallationCall): Answer {
  const of = (resource: RateResource) => {
    const { limit, used, resetAt } = bucketOf(world, `installation ${installation.id}`, resource);
    const remaining = Math.max(limit - used, 0);
    return { limit, used: limit - remaining, remaining, reset: Math.ceil(resetAt / 1000) };
  };
  const core = of('core');
  const resources = {
    core,
    search: core,
    actions_runner_registration: of('actions_runner_registration'),
  };
  return { status: 200, body: { resources, rate: core } };
}
