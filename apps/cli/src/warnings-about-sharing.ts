import type { ConfigFile } from '@paddock/domain/pools/config-file';

/**
 * Ways to get more than one's share: with many entities, or with one repository of an organisation.
 */
export function warningsAboutSharing({
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
