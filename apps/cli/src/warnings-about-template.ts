import { DAEMON_CONTAINER, RUNNER_CONTAINER } from '@paddock/domain/pools/pod-template';
import type { Pool } from '@paddock/domain/pools/pool';
import { SHORTEST_DEADLINE_SECONDS } from '@paddock/kube/runner-pod';
import { unknownPodFields } from '@paddock/kube/unknown-fields';

/** Where a template's pod will differ from the template. */
export function warningsAboutTemplate(pool: Pool): string[] {
  return [...ofContainers(pool), ...ofDeadline(pool), ...ofFields(pool)];
}

function ofContainers({ name, template, containerMode }: Pool): string[] {
  const names = (template?.spec?.containers ?? []).map((container) => container.name);
  const isReplaced = containerMode === 'dind' && names.includes(DAEMON_CONTAINER);
  const others = names.filter((container) => !isReplaced || container !== DAEMON_CONTAINER);
  return [
    ...(isReplaced
      ? [
          `${name} drops the container ${DAEMON_CONTAINER} of its template, since containerMode: dind adds one: change that as initContainers[${DAEMON_CONTAINER}].`,
        ]
      : []),
    ...(others.length === 0 || names.includes(RUNNER_CONTAINER)
      ? []
      : [
          `${name} has no container named ${RUNNER_CONTAINER} in its template: ${others.join(', ')} will run beside the one that runs jobs.`,
        ]),
  ];
}

function ofDeadline({ name, template }: Pool): string[] {
  const seconds = template?.spec?.['activeDeadlineSeconds'];
  if (typeof seconds !== 'number' || seconds >= SHORTEST_DEADLINE_SECONDS) return [];
  return [
    `${name}: template.spec.activeDeadlineSeconds is raised from ${seconds} to ${SHORTEST_DEADLINE_SECONDS}, or it would end a working runner.`,
  ];
}

/** The cluster drops unknown fields, unless its version is newer than our library. */
const ofFields = ({ name, template }: Pool): string[] =>
  unknownPodFields(template?.spec).map(({ path, meant }) => {
    const hint = meant === undefined ? '.' : `; did you mean ${meant}?`;
    return `${name}: template.spec.${path} is no field of a PodSpec, so the cluster would drop it${hint}`;
  });
