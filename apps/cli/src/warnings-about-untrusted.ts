import { asList, asRecord } from '@paddock/domain/pools/as-record';
import { nodePowersOf } from '@paddock/domain/pools/node-powers';
import type { Pool } from '@paddock/domain/pools/pool';
import { unnamedUsers } from '@paddock/domain/pools/check-together';

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
