import { readFile } from 'node:fs/promises';
import { request } from 'node:https';

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
  return (method, path, body) =>
    new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${users[0].user.token}`,
        'content-type': CONTENT_TYPES[method] ?? 'application/json',
      };
      const call = request(
        `${server}${path}`,
        { method: method === 'APPLY' ? 'PATCH' : method, ca, agent: false, headers },
        (answer) => {
          let text = '';
          answer.setEncoding('utf8');
          answer.on('data', (chunk: string) => (text += chunk));
          answer.on('error', reject);
          answer.on('end', () => {
            const status = answer.statusCode ?? 0;
            if (status >= 200 && status < 300) resolve(JSON.parse(text));
            else reject(new Error(`${method} ${path} was answered ${status}: ${text}`));
          });
        },
      );
      call.on('error', reject);
      call.end(body === undefined ? undefined : JSON.stringify(body));
    });
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
