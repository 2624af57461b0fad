import type { CaBundle, Proxy } from '@paddock/domain/pools/pod-settings';
import type { Additions, EnvVar, Mount } from './additions.ts';

/** A proxy's variables, in both spellings: curl reads only the lower-case http_proxy, others only the upper-case ones. */
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

/** Named as in actions-runner-controller. */
const CA_VOLUME = 'github-server-tls-cert';

/** Where update-ca-certificates looks; the runner's own start script calls it when RUNNER_UPDATE_CA_CERTS is set. */
const TRUSTED_FOLDER = '/usr/local/share/ca-certificates';

/** The runner trusts the bundle beside what its image trusts: .NET, curl and git through the system's store, Node by its own variable. */
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

/** The Docker daemon is a Go program: it reads every file of this folder beside the system's bundle. */
export function caMountOfDaemon({ key }: CaBundle): Mount {
  return { name: CA_VOLUME, mountPath: `/etc/ssl/certs/paddock-${key}`, subPath: key, readOnly: true };
}
