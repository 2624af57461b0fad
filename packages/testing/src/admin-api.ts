import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';

export type AdminApi = (
  // APPLY: a server-side apply, by PATCH.
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'APPLY',
  path: string,
  body?: object,
) => Promise<unknown>;

interface Kubeconfig {
  readonly clusters: [
    { readonly cluster: { readonly server: string; readonly 'certificate-authority': string } },
  ];
  readonly users: [{ readonly user: { readonly token: string } }];
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  PATCH: 'application/merge-patch+json',
  APPLY: 'application/apply-patch+yaml',
};

/**
 * Calls of the API that the product never makes, with all rights. Each rejects with the server's
 * answer if it fails.
 */
export async function connectAsAdmin(kubeconfigFile: string): Promise<AdminApi> {
  const { clusters, users } = JSON.parse(await readFile(kubeconfigFile, 'utf8')) as Kubeconfig;
  const { server, 'certificate-authority': certificate } = clusters[0].cluster;
  const ca = await readFile(certificate);
  return async (method, path, body) => {
    const call = request(`${server}${path}`, {
      method: method === 'APPLY' ? 'PATCH' : method,
      ca,
      agent: false,
      headers: {
        authorization: `Bearer ${users[0].user.token}`,
        'content-type': CONTENT_TYPES[method] ?? 'application/json',
      },
    });
    call.end(body === undefined ? undefined : JSON.stringify(body));
    const [answer] = (await once(call, 'response')) as [IncomingMessage];
    const said = await text(answer);
    const { statusCode: status = 0 } = answer;
    if (status >= 200 && status < 300) return JSON.parse(said) as unknown;
    throw new Error(`${method} ${path} was answered ${status}: ${said}`);
  };
}

/** The path of an object's collection in the API: of its namespace, if it is in one. */
export function collectionOf({
  apiVersion,
  kind,
  metadata: { namespace },
}: {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly namespace?: string };
}): string {
  const plural = `${kind.toLowerCase()}s`.replace(/ys$/, 'ies').replace(/sss$/, 'sses');
  const group = `/${apiVersion.includes('/') ? 'apis' : 'api'}/${apiVersion}`;
  return namespace === undefined
    ? `${group}/${plural}`
    : `${group}/namespaces/${namespace}/${plural}`;
}
