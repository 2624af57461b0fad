import { asList, asRecord } from '@paddock/domain/pools/as-record';
import type { ConfigFile } from '@paddock/domain/pools/config-file';
import { groupToMake, type GroupToMake } from '@paddock/domain/pools/runner-group';
import {
  DAEMON_CONTAINER,
  RUNNER_CONTAINER,
  templateImage,
  templateRunner,
} from '@paddock/domain/pools/pod-template';
import type { Pool } from '@paddock/domain/pools/pool';
import { overlap } from '@paddock/domain/pools/gate';
import { sharedLabels } from '@paddock/domain/pools/pools-document';
import { devicesIn } from '@paddock/domain/pools/pod-keys';
import { SHORTEST_DEADLINE_SECONDS } from '@paddock/kube/runner-pod';
import { unknownPodFields } from '@paddock/kube/unknown-fields';
import { nodePowersOf } from '@paddock/domain/pools/node-powers';
import { unnamedUsers } from '@paddock/domain/pools/check-together';

/**
 * Warns of settings that are valid but probably a mistake. `written`: the file's content without
 * the schema's defaults.
 */
export function warningsAbout({ pools, entities }: ConfigFile, written: unknown): string[] {
  const writtenPools = asList(asRecord(written)['pools']).map(asRecord);
  return [
    ...(Object.keys(entities).length === 0
      ? ["entities is empty, so no jobs are served: name entities, or '*' for all."]
      : []),
    ...Object.keys(entities)
      .filter((key) => !ENTITY.test(key))
      .map((key) => `entities has ${key}, which is no entity's login: it matches no entity.`),
    ...pools.flatMap((pool, index) => [
      ...ofLabels(pool),
      ...ofImage(pool, writtenPools[index]?.['image']),
      ...warningsAboutTemplate(pool),
      ...warningsAboutUntrusted(entities, pool),
      ...ofSwitch(pool),
    ]),
    ...warningsAboutSharing({ pools, entities }),
    ...ofGroups(pools),
    ...warningsAboutChoice(pools),
  ];
}

/** '*', an entity's id, or a possible login. */
const ENTITY = /^(?:\*|id:\d+|[A-Za-z0-9][A-Za-z0-9_-]*)$/;

/** GitHub's programs split labels at commas and trim each. */
const ofLabels = ({ name, labels }: Pool): string[] =>
  labels
    .filter((label) => label.includes(',') || label.trim() !== label)
    .map(
      (label) =>
        `${name} has the label "${label}": a comma or a space around it makes no second label.`,
    );

function ofImage({ name, image, template }: Pool, written: unknown): string[] {
  const other = templateImage(template);
  if (other !== undefined && other !== image)
    return [`${name} uses its own image ${image}, not ${other} of its template.`];
  return other === undefined && (written === undefined || written === null)
    ? [`${name} names no image: it runs ${image}.`]
    : [];
}

const ofSwitch = ({ name, maxWorkers, paused }: Pool): string[] =>
  maxWorkers === 0 || paused ? [`${name} is switched off: it makes no workers.`] : [];

/** The first pool to need a runner group makes it. */
function ofGroups(pools: readonly Pool[]): string[] {
  const makers = pools.filter(
    ({ runnerGroup, registration }) =>
      registration === 'organization' && runnerGroup.toLowerCase() !== 'default',
  );
  return makers.flatMap((pool, index) => {
    const other = makers
      .slice(0, index)
      .find(({ runnerGroup }) => runnerGroup.toLowerCase() === pool.runnerGroup.toLowerCase());
    return other === undefined || wantTheSame(groupToMake(other), groupToMake(pool))
      ? []
      : [
          `${other.name} and ${pool.name} want different settings for the runner group ${pool.runnerGroup}: the first to make it decides.`,
        ];
  });
}

const wantTheSame = (one: GroupToMake, other: GroupToMake): boolean =>
  one.visibility === other.visibility &&
  one.allowsPublicRepositories === other.allowsPublicRepositories;

/**
 * Ways to get more than one's share: with many entities, or with one repository of an organisation.
 */
function warningsAboutSharing({
  pools,
  entities,
}: Pick<ConfigFile, 'pools' | 'entities'>): string[] {
  const open = pools.filter(
    ({ registration, repositories, maxWorkers }) =>
      registration === 'organization' && repositories === undefined && maxWorkers !== 0,
  );
  const names = open.map(({ name }) => name).join(', ');
  return [
    ...(entities['*'] !== undefined && entities['*'].commonMaxWorkers === undefined
      ? ["'*' has no commonMaxWorkers: each entity of one person can have maxWorkers workers."]
      : []),
    ...(open.length === 0
      ? []
      : [
          `One repository can take all that its organisation may have of ${names}: registration: repository, or a pool for each team, keeps repositories apart.`,
        ]),
  ];
}

/** Label sets that fit several pools and go to a surprising one: with devices, or first by name. */
function warningsAboutChoice(pools: readonly Pool[]): string[] {
  return sharedLabels(pools).flatMap(({ labels, pools: names }) => {
    const [first, second, ...others] = names.flatMap((name) =>
      pools.filter((pool) => pool.name === name),
    );
    if (first === undefined || second === undefined) return [];
    const jobs = `Jobs with the labels ${labels.join(', ')} go to ${first.name}`;
    const [device] = devicesOf(first);
    const plain = [second, ...others].find((pool) => devicesOf(pool).length === 0);
    if (device !== undefined && plain !== undefined) {
      return [
        `${jobs}, which has ${device}, although ${plain.name} fits them too: give ${plain.name} fewer labels, or as many and a higher priority.`,
      ];
    }
    if (
      first.labels.length === second.labels.length &&
      first.entities === undefined &&
      first.repositories === undefined
    ) {
      const isSame = labels.length === first.labels.length;
      if (isSame)
        return [
          `${second.name} gets no jobs: ${first.name} has the same labels, comes first, and serves all entities.`,
        ];
    }
    const isTie =
      first.labels.length === second.labels.length &&
      first.priority === second.priority &&
      overlap(first, second);
    return isTie
      ? [
          `${jobs} and not to ${second.name} for its name alone: give one of the two a higher priority.`,
        ]
      : [];
  });
}

const devicesOf = ({ resources, template }: Pool): string[] =>
  devicesIn(resources ?? templateRunner(template)?.['resources']);

/** Where a template's pod will differ from the template. */
function warningsAboutTemplate(pool: Pool): string[] {
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

/** Powers and tokens that a pool's template gives to untrusted jobs. */
function warningsAboutUntrusted(entities: Readonly<Record<string, unknown>>, pool: Pool): string[] {
  const untrusted = unnamedUsers(entities, pool);
  const [first] = untrusted;
  if (first === undefined) return [];
  const whom = untrusted.map((one) => one.whom).join(' and ');
  return [
    ...nodePowersOf(pool).map((power) => `${power}, which gives jobs power over their node`),
    ...tokensIn(pool).map((token) => `${token}, with which jobs speak to the cluster`),
  ].map((handed) => `${pool.name} has ${handed}, and serves ${whom}: ${first.remedy}.`);
}

function tokensIn({ template }: Pool): string[] {
  const spec = asRecord(template?.spec);
  const { serviceAccountName, serviceAccount, automountServiceAccountToken } = spec;
  const account = serviceAccountName ?? serviceAccount;
  const isMounted =
    automountServiceAccountToken === true ||
    (typeof account === 'string' && automountServiceAccountToken !== false);
  const projected = asList(spec['volumes'])
    .map(asRecord)
    .filter(({ projected: parts }) =>
      asList(asRecord(parts)['sources']).some((source) =>
        Object.hasOwn(asRecord(source), 'serviceAccountToken'),
      ),
    );
  return [
    ...(isMounted
      ? [
          `the token of the service account ${typeof account === 'string' ? account : 'default'} in its template`,
        ]
      : []),
    ...projected.map(
      ({ name }) => `a service account's token in the volume ${String(name)} of its template`,
    ),
  ];
}
