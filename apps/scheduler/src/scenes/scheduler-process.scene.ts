import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach } from '@jest/globals';
import type { PoolsDocument } from '@paddock/domain/pools/pools-document';
import { type RuleValues, rulesVariable } from '@paddock/runtime/rules';
import { startService } from '@paddock/testing/processes';
import { untilDisconnected } from '@paddock/testing/sessions';
import { useFolder } from '@paddock/testing/use-folder';
import { waitFor } from '@paddock/testing/wait-for';
import type { SchedulerWorld } from './scheduler.scene.ts';
import { APP_ID } from './settings.scene.ts';

export type Scheduler = Awaited<ReturnType<ReturnType<typeof useSchedulers>['start']>>;

/** Schedulers as processes in that world, killed at the end of the test that started them. */
export function useSchedulers(world: SchedulerWorld) {
  const folder = useFolder();
  const started: Awaited<ReturnType<typeof startService>>[] = [];
  afterEach(async () => {
    for (const { kill } of started) kill('SIGKILL');
    await Promise.all(started.splice(0).map(({ exited }) => exited));
    await untilDisconnected(world.db, 'scheduler');
  });

  /** A reader finds all of the old file or all of the new one. Returns its path. */
  const write = async (name: string, text: string): Promise<string> => {
    const path = join(folder, name);
    await writeFile(`${path}.new`, text);
    await rename(`${path}.new`, path);
    return path;
  };
  /** Writes the configuration file. */
  const configure = (github: object = {}, { pools, entities }: PoolsDocument = world.pools) => {
    const apps = [{ id: APP_ID, privateKey: { env: 'APP_KEY' } }];
    const ofGitHub = { apiUrl: world.gitHub.url, apps, ...github };
    return write('paddock.yaml', JSON.stringify({ github: ofGitHub, pools, entities }));
  };

  return {
    write,
    configure,
    /** With the file that was configured last. It listens, and need not be ready yet. */
    async start(rules: RuleValues = {}, env: Readonly<Record<string, string>> = {}) {
      const program = await startService({
        app: 'scheduler',
        env: {
          DATABASE_URL: world.databaseUrl,
          PADDOCK_CONFIG: join(folder, 'paddock.yaml'),
          PADDOCK_KUBECONFIG: world.kube.writeKubeconfig(),
          PADDOCK_HEALTH_PORT: '0',
          PADDOCK_HTTP_HOST: '127.0.0.1',
          APP_KEY: world.privateKeyPem,
          ...rulesVariable(rules),
          ...env,
        },
      });
      started.push(program);
      const get = async (path: string) => {
        const response = await fetch(`http://127.0.0.1:${program.port}${path}`);
        return { status: response.status, text: (await response.text()).trim() };
      };
      return {
        ...program,
        get,
        said: (text: string) => program.lines().filter((line) => line.includes(text)),
        untilReady: () => waitFor('readiness', async () => (await get('/readyz')).status === 200),
      };
    },
  };
}
