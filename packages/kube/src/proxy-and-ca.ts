import type { CaBundle, Proxy } from '@paddock/domain/pools/pod-keys';
import type { Additions, EnvVar, Mount } from './additions.ts';

/** A proxy's variables in both cases: curl reads http_proxy in lower case only, others in upper. */
export function proxyVariables({ http, https, noProxy }: Proxy): EnvVar[] {
  const values = { HTTP_PROXY: http, HTTPS_PROXY: https, NO_PROXY: noProxy?.join(',') };
  return Object.entries(values).flatMap(([name, value]) =>
    value === undefined
      ? []
      : [
          { name, value },
          { name: name.toLowerCase(), value },
        ],
  );
}

/** The name that actions-runner-controller uses. */
const CA_VOLUME = 'github-server-tls-cert';

/**
 * update-ca-certificates reads it. The runner's start script calls that if RUNNER_UPDATE_CA_CERTS
 * is set.
 */
const TRUSTED_FOLDER = '/usr/local/share/ca-certificates';

/**
 * Adds the bundle to the runner's trusted certificates: those of the system's store (.NET, curl,
 * git) and of Node.js.
 */
export function caAdditions({ configMap, key }: CaBundle): Additions {
  const path = `${TRUSTED_FOLDER}/${key}`;
  return {
    env: [
      { name: 'NODE_EXTRA_CA_CERTS', value: path },
      { name: 'RUNNER_UPDATE_CA_CERTS', value: '1' },
    ],
    mounts: [{ name: CA_VOLUME, mountPath: path, subPath: key, readOnly: true }],
    volumes: [{ name: CA_VOLUME, configMap: { name: configMap, items: [{ key, path: key }] } }],
  };
}

/** The Docker daemon, a Go program, reads every file of this folder and the system's bundle. */
export function daemonCaMount({ key }: CaBundle): Mount {
  return {
    name: CA_VOLUME,
    mountPath: `/etc/ssl/certs/paddock-${key}`,
    subPath: key,
    readOnly: true,
  };
}
