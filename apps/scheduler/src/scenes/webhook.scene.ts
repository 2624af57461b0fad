import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { RealWorld } from './real-cluster.scene.ts';

const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
const NEW_PODS = {
  apiGroups: [''],
  apiVersions: ['v1'],
  operations: ['CREATE'],
  resources: ['pods'],
};

export interface Webhook {
  /**
   * Makes the cluster ask for each new pod, or only for those with such labels; it waits this many
   * seconds for the answer.
   */
  install(options: {
    readonly timeoutSeconds: number;
    readonly labels?: Readonly<Record<string, string>>;
  }): Promise<void>;
  remove(): Promise<void>;
  stop(): void;
}

/** A server that a real cluster asks whether a pod may be made. The test decides each answer. */
export async function startWebhook(
  { admin, real }: RealWorld,
  name: string,
  answer: (response: ServerResponse) => void,
): Promise<Webhook> {
  const { certFile, keyFile } = real.certificate;
  const cert = await readFile(certFile);
  const server = createServer({ cert, key: await readFile(keyFile) }, (_request, response) =>
    answer(response),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const clientConfig = {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    caBundle: cert.toString('base64'),
  };
  return {
    async install({ timeoutSeconds, labels = {} }) {
      const webhook = {
        name: `${name}.example.test`,
        clientConfig,
        rules: [NEW_PODS],
        timeoutSeconds,
        failurePolicy: 'Fail',
      };
      await admin('POST', CONFIGURATIONS, {
        metadata: { name },
        webhooks: [
          {
            ...webhook,
            objectSelector: { matchLabels: labels },
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
          },
        ],
      });
    },
    async remove() {
      await admin('DELETE', `${CONFIGURATIONS}/${name}`);
    },
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
