import type { IncomingMessage, ServerResponse } from 'node:http';
import { readBody } from './api-call.ts';
import { sendJson } from './serve-call.ts';
import type { KubeControl } from './kube-control.ts';

export const CONTROL_PATH = '/_sim/';

/**
 * `POST /_sim/<name of the function>` with its argument as the body; the answer is `{ result }`.
 * Not a part of the Kubernetes API.
 */
export async function serveControl(
  control: KubeControl,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readBody(request);
  const name = (request.url ?? '').slice(CONTROL_PATH.length);
  const result = run(control, name, body);
  if (result === UNKNOWN)
    sendJson(response, 404, { error: `There is no control function ${name}.` });
  else sendJson(response, 200, { result: result ?? null });
}

const UNKNOWN = Symbol('unknown');

/** The body comes from our own client (control-client.ts), whose types are these. */
function run(control: KubeControl, name: string, body: unknown): unknown {
  switch (name) {
    case 'failNext':
      return control.failNext(body as Parameters<KubeControl['failNext']>[0]);
    case 'clearFaults':
      return control.clearFaults();
    case 'cutWatches':
      return control.cutWatches();
    case 'compact':
      return control.compact();
    case 'setQuota':
      return control.setQuota(body as number | null);
    case 'endPod':
      return control.endPod(body as Parameters<KubeControl['endPod']>[0]);
    case 'setRunnerFaults':
      return control.setRunnerFaults(body as Parameters<KubeControl['setRunnerFaults']>[0]);
    case 'report':
      return control.report();
    default:
      return UNKNOWN;
  }
}
