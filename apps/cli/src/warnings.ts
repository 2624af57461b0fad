import { asList, asRecord } from '@paddock/domain/pools/as-record';
import type { ConfigFile } from '@paddock/domain/pools/config-file';
import { groupToMake, type GroupToMake } from '@paddock/domain/pools/runner-group';
import { templateImage } from '@paddock/domain/pools/pod-template';
import type { Pool } from '@paddock/domain/pools/pool';
import { warningsAboutChoice } from './warnings-about-pools.ts';
import { warningsAboutTemplate } from './warnings-about-template.ts';
import { warningsAboutUntrusted } from './warnings-about-pools.ts';

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
