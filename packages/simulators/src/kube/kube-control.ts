import type { IncomingMessage, ServerResponse } from 'node:http';
import { readBody } from './api-call.ts';
import type { End } from './pod-status.ts';
import type { Fault } from './faults.ts';
import type { KubeReport } from './kube-report.ts';
import type { RunnerFaults } from './runner-faults.ts';
import { sendJson } from './serve-call.ts';

/** Controls the simulated cluster, for a test or the demo in the same process. */
export interface KubeControl {
  failNext(fault: Fault): void;
  clearFaults(): void;
  /** Breaks all open watches without a message. */
  cutWatches(): void;
  /** Forgets the history: older versions and open lists answer 410. */
  compact(): void;
  /** The most pods of a namespace that have not ended; null lifts the quota. */
  setQuota(pods: number | null): void;
  /**
   * Ends a running pod's process as a kubelet would report it; `message` is the process'
   * termination message.
   */
  endPod(pod: {
    namespace: string;
    name: string;
    end: End;
    exitCode?: number | undefined;
    message?: string | undefined;
  }): void;
  /** Sets the faults of runners whose pods start from now on. */
  setRunnerFaults(faults: RunnerFaults): void;
  report(): KubeReport;
}

/** The same from another process. */
export type RemoteKubeControl = {
  [K in keyof KubeControl]: (
    ...args: Parameters<KubeControl[K]>
  ) => Promise<ReturnType<KubeControl[K]>>;
};

export const CONTROL_PATH = '/_sim/';

/** Controls a simulated cluster that runs in another process. */
export function connectKubeControl(url: string): RemoteKubeControl {
  const run = async (name: string, argument: unknown): Promise<unknown> => {
    const response = await fetch(`${url}${CONTROL_PATH}${name}`, {
      method: 'POST',
      ...(argument === undefined ? {} : { body: JSON.stringify(argument) }),
    });
    if (!response.ok)
      throw new Error(
        `The simulated cluster at ${url} answered ${response.status} to ${name}: ${await response.text()}`,
      );
    return ((await response.json()) as { result: unknown }).result;
  };
  return new Proxy({} as RemoteKubeControl, {
    get: (_none, name) =>
      name === 'then' ? undefined : (argument: unknown) => run(String(name), argument),
  });
}

/**
 * `POST /_sim/<name of the function>` with its argument as the body; the answer is `{ result }`.
 * Not a part of the Kubernetes API. The body comes from the client above, whose types are these.
 */
export async function serveControl(
  control: KubeControl,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const argument = await readBody(request);
  const name = (request.url ?? '').slice(CONTROL_PATH.length);
  const [, act] = Object.entries(control).find(([known]) => known === name) ?? [];
  if (act === undefined) sendJson(response, 404, { error: `There is no function ${name}.` });
  else sendJson(response, 200, { result: (act as (given: unknown) => unknown)(argument) ?? null });
}
