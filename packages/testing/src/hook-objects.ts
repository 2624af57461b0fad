import { asList, asRecord } from '@paddock/domain/pools/as-record';
import { examplePools } from './demand-rows.ts';
import { waitFor } from './wait-for.ts';

const NAMESPACE = 'runners';

/** Calls the API server, with all rights. */
type Api = (method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) => Promise<unknown>;

/** A pool in kubernetes mode. */
export const HOOKED_POOLS = examplePools({
  pools: [
    {
      template: {
        spec: {
          containers: [
            {
              name: 'runner',
              env: [{ name: 'ACTIONS_RUNNER_CONTAINER_HOOKS', value: '/home/runner/k8s/index.js' }],
            },
          ],
        },
      },
    },
  ],
});

const container = { name: 'job', image: 'example.test/job:1' };
const POD = { containers: [container], restartPolicy: 'Never' };

const KINDS: Readonly<Record<string, object>> = {
  '/api/v1 pods': { apiVersion: 'v1', kind: 'Pod', spec: POD },
  '/api/v1 secrets': { apiVersion: 'v1', kind: 'Secret' },
  '/api/v1 services': { apiVersion: 'v1', kind: 'Service', spec: { ports: [{ port: 5432 }] } },
  '/apis/batch/v1 jobs': { apiVersion: 'batch/v1', kind: 'Job', spec: { template: { spec: POD } } },
};

const collections = Object.entries(KINDS).map(([where, body]) => {
  const [api = '', resource = ''] = where.split(' ');
  return { path: `${api}/namespaces/${NAMESPACE}/${resource}`, resource, body };
});

/** What the hooks of runners make for a job, as `resource/name`, in a cluster of tests. */
export function hookObjects(api: Api) {
  /** All that are there. */
  async function list(): Promise<string[]> {
    const lists = await Promise.all(
      collections.map(async ({ path, resource }) =>
        asList(asRecord(await api('GET', path))['items']).map(
          (item) => `${resource}/${String(asRecord(asRecord(item)['metadata'])['name'])}`,
        ),
      ),
    );
    return lists
      .flat()
      .filter((name) => name.endsWith('-workflow'))
      .toSorted();
  }
  return {
    list,
    /** One of each kind for a runner, or with other labels. */
    async make(runner: string, labels: object = { 'runner-pod': runner }): Promise<string[]> {
      const name = `${runner}-workflow`;
      for (const { path, body } of collections)
        await api('POST', path, { ...body, metadata: { name, labels } });
      return collections.map(({ resource }) => `${resource}/${name}`);
    },
    async clear(): Promise<void> {
      for (const name of await list()) {
        const [resource, only = ''] = name.split('/');
        const path = collections.find((one) => one.resource === resource)?.path ?? '';
        await api('DELETE', `${path}/${only}`);
      }
      await waitFor('them to go', async () => (await list()).length === 0);
    },
  };
}
