import { asList, asRecord } from './as-record.ts';
import type { Pool } from './pool.ts';

/** Allowed by Pod Security's level `baseline`. Others may reach beyond the container. */
const HARMLESS = new Set(
  'AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID SYS_CHROOT'.split(
    ' ',
  ),
);

/** The pool's keys that give its jobs power over their node, and so over the node's other pods. */
export function nodePowersOf({
  containerMode,
  template,
}: Pick<Pool, 'containerMode' | 'template'>): string[] {
  const spec = asRecord(template?.spec);
  const hosts = ['hostNetwork', 'hostPID', 'hostIPC'].filter((key) => spec[key] === true);
  const containers = (['containers', 'initContainers'] as const).flatMap((key) =>
    asList(spec[key]).map(asRecord),
  );
  return [
    ...(containerMode === 'dind' ? ['containerMode: dind'] : []),
    ...hosts.map((key) => `${key} of its template`),
    ...asList(spec['volumes'])
      .map(asRecord)
      .flatMap(({ name, hostPath }) =>
        hostPath === undefined || hostPath === null
          ? []
          : [`hostPath in the volume ${String(name)}`],
      ),
    ...(isHostProcess(spec['securityContext']) ? ['hostProcess of its template'] : []),
    ...containers.flatMap(({ name, securityContext }) =>
      powersIn(securityContext).map((power) => `${power} in the container ${String(name)}`),
    ),
  ];
}

function powersIn(securityContext: unknown): string[] {
  const { privileged, capabilities } = asRecord(securityContext);
  const added = asList(asRecord(capabilities)['add']).filter(
    (one) => !HARMLESS.has(String(one).toUpperCase().replace(/^CAP_/, '')),
  );
  return [
    ...(privileged === true ? ['privileged'] : []),
    ...(added.length > 0 ? [`the capabilities ${added.map(String).join(', ')}`] : []),
    ...(isHostProcess(securityContext) ? ['hostProcess'] : []),
  ];
}

const isHostProcess = (securityContext: unknown): boolean =>
  asRecord(asRecord(securityContext)['windowsOptions'])['hostProcess'] === true;
