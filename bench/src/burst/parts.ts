import { Agent, request } from 'node:http';
import type { System } from './system.ts';
import type { Watcher } from './watch.ts';

export interface Parts {
  /**
   * The milliseconds of the parts that every pod needs, one after the other and each as cheap as
   * possible: the commits of the delivery and of the reservation, and three calls over the
   * loopback, for the registration, the Secret and the pod.
   */
  time(): Promise<number>;
  close(): void;
}

export function openParts({ clusterUrl }: System, watcher: Watcher): Parts {
  const agent = new Agent({ keepAlive: true });
  return {
    async time() {
      const begun = performance.now();
      for (let commits = 0; commits < 2; commits++) await watcher.commit();
      for (let calls = 0; calls < 3; calls++) await callOnce(agent, `${clusterUrl}/readyz`);
      return performance.now() - begun;
    },
    close: () => agent.destroy(),
  };
}

function callOnce(agent: Agent, url: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  request(url, { agent }, (answer) => answer.on('end', resolve).on('error', reject).resume())
    .on('error', reject)
    .end();
  return promise;
}
