import { asList, asRecord } from '@paddock/domain/pools/as-record';
import { overlap } from '@paddock/domain/pools/gate';
import { nodePowersOf } from '@paddock/domain/pools/node-powers';
import { templateRunner } from '@paddock/domain/pools/pod-template';
import type { Pool } from '@paddock/domain/pools/pool';
import { sharedLabels } from '@paddock/domain/pools/pools-document';
import { unnamedUsers } from '@paddock/domain/pools/check-together';
import { devicesIn } from '@paddock/domain/pools/pod-keys';

/** Label sets that fit several pools and go to a surprising one: with devices, or first by name. */
export function warningsAboutChoice(pools: readonly Pool[]): string[] {
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

/** Powers and tokens that a pool's template gives to untrusted jobs. */
export function warningsAboutUntrusted(
  entities: Readonly<Record<string, unknown>>,
  pool: Pool,
): string[] {
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
