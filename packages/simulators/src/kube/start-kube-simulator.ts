import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listenHttp } from '@paddock/runtime/http-server';
import { seededRandom } from '../random.ts';
import { admit } from './admit.ts';
import { ApiFailure, statusObject } from './api-failure.ts';
import { collectGarbage } from './delete-object.ts';
import { CONTROL_PATH, serveControl } from '../remote-control.ts';
import { createControl, type KubeControl } from './kube-control.ts';
import { type CountBy, createKubeReport } from './kube-report.ts';
import { startKubelet, type PlayRunner } from './kubelet.ts';
import { createListPages } from './list-pages.ts';
import { createObjectStore } from './object-store.ts';
import { withFaults } from './runner-faults.ts';
import { sendJson, serveCall, type ApiService } from './serve-call.ts';

export interface KubeSimulatorOptions {
  /** `default` if absent; more can be created through the API. */
  readonly namespaces?: readonly string[] | undefined;
  readonly playRunner?: PlayRunner | undefined;
  /** The shortest and the longest start of a pod, in milliseconds. */
  readonly startDelayMs?: readonly [number, number] | undefined;
  /**
   * False: there is no scheduler and no kubelet, as in a control plane alone; pods stay Pending.
   */
  readonly kubelet?: boolean | undefined;
  /** How often a watch sends the newest version; a minute in a real cluster. */
  readonly bookmarkMs?: number | undefined;
  /** Seeds random starts and faults; 1 by default. */
  readonly seed?: number | undefined;
  /** The labels by which the report groups pods; none by default. */
  readonly countBy?: CountBy | undefined;
}

export interface KubeSimulator extends KubeControl {
  readonly url: string;
  /** Text of a kubeconfig. */
  readonly kubeconfig: string;
  /**
   * Writes one to a file, which goes when the simulator stops, for calls through `server` instead.
   * Returns its path.
   */
  writeKubeconfig(server?: string): string;
  /** The output of a pod's runner so far. It makes no call, so no fault strikes it. */
  runnerLog(namespace: string, name: string): readonly string[];
  stop(): Promise<void>;
}

/** Starts the part of a Kubernetes cluster that Paddock uses, as an HTTP server on 127.0.0.1. */
export async function startKubeSimulator(
  options: KubeSimulatorOptions = {},
): Promise<KubeSimulator> {
  const store = createObjectStore();
  const namespaces = options.namespaces ?? ['default'];
  for (const name of namespaces)
    store.create('namespaces', admit('namespaces', undefined, { metadata: { name } }, new Date()));
  store.create('nodes', admit('nodes', undefined, { metadata: { name: 'sim-node' } }, new Date()));

  const stopCollecting = collectGarbage(store);
  const { startDelayMs = [20, 200], seed = 1 } = options;
  const random = seededRandom(seed);
  const watches = new Set<{ cut(): void }>();
  const report = createKubeReport(store, () => watches.size, options.countBy);
  const playRunner =
    options.playRunner &&
    withFaults(options.playRunner, {
      faults: () => service.runnerFaults,
      random,
      strike: report.strike,
    });
  const kubelet =
    options.kubelet === false
      ? undefined
      : startKubelet({ store, playRunner, startDelayMs, random });
  const service: ApiService = {
    store,
    pages: createListPages(store),
    quota: Infinity,
    readLog: (pod, container) => kubelet?.readLog(pod, container) ?? [],
    token: randomBytes(16).toString('hex'),
    denied: [],
    faults: [],
    runnerFaults: {},
    bookmarkMs: options.bookmarkMs ?? 5000,
    watches,
    count: report.count,
    callFailed: () => report.strike('call_failed'),
  };
  const control = createControl(service, report.read);

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.url?.startsWith(CONTROL_PATH) === true)
      await serveControl(control, request.url.slice(CONTROL_PATH.length), request, response);
    else await serveCall(service, request, response);
  };
  const server = await listenHttp(
    (request, response) => {
      serve(request, response).catch((error: unknown) => {
        const { message } = error as Error;
        if (response.headersSent) response.destroy();
        else sendJson(response, 500, statusObject(new ApiFailure(500, 'InternalError', message)));
      });
    },
    { port: 0, host: '127.0.0.1' },
  );
  const url = `http://127.0.0.1:${server.port}`;
  const kubeconfig = kubeconfigFor(url, service.token);

  const folder = mkdtempSync(join(tmpdir(), 'paddock-simulator-'));
  return {
    ...control,
    url,
    kubeconfig,
    writeKubeconfig: (through = url) => {
      const path = join(folder, new URL(through).port);
      writeFileSync(path, kubeconfigFor(through, service.token), { mode: 0o600 });
      return path;
    },
    runnerLog: (namespace, name) => kubelet?.runnerLog(store.get('pods', namespace, name)) ?? [],
    async stop() {
      rmSync(folder, { recursive: true, force: true });
      stopCollecting();
      await kubelet?.stop();
      const closed = server.close();
      server.server.closeAllConnections();
      await closed;
    },
  };
}

/**
 * The text of a kubeconfig for a server without TLS. The client libraries accept such a server only
 * with verification switched off.
 */
function kubeconfigFor(url: string, token: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'simulator',
    clusters: [{ name: 'simulator', cluster: { server: url, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'simulator', user: { token } }],
    contexts: [{ name: 'simulator', context: { cluster: 'simulator', user: 'simulator' } }],
  });
}
