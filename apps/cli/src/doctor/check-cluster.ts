import { asList, asRecord } from '@paddock/domain/pools/as-record';
import { hasHooks } from '@paddock/domain/pools/pod-template';
import type { Pool } from '@paddock/domain/pools/pool';
import { readVersion } from '@paddock/kube/call';
import { type Cluster, connectCluster } from '@paddock/kube/connect';
import { classifyKubeError, type KubeFailure } from '@paddock/kube/errors';
import { findMissingRights } from '@paddock/kube/rights';
import { secretExists } from '@paddock/kube/secrets';
import { tryPool, trySecret } from '@paddock/kube/try-pool';
import { ConfigError } from '@paddock/runtime/config-error';
import { adviseOnPod, isFullForNow } from './advise-on-pod.ts';
import { type Finding, findingsOf } from '@paddock/api/findings/findings';

interface Given {
  readonly kubeconfigFile: string | undefined;
  /** Undefined: the configuration has to be mended first. */
  readonly pools: readonly Pool[] | undefined;
}

const ANSWER_MS = 10_000;
const OLDEST_MINOR = 29;

/** What the cluster says of the pools and of the scheduler's rights. Never rejects. */
export async function checkCluster({ kubeconfigFile, pools }: Given): Promise<Finding[]> {
  const findings = findingsOf('cluster');
  const { found, mend, remark, unchecked } = findings;
  let cluster: Cluster | undefined;
  try {
    cluster = connectCluster({ kubeconfigFile, requestTimeoutMs: ANSWER_MS });
    const version = await readVersion(cluster);
    const [, minor = NaN] = /^v1\.(\d+)/.exec(version) ?? [];
    if (Number(minor) < OLDEST_MINOR)
      remark(
        `The cluster is of ${version}: Paddock is tested from v1.${OLDEST_MINOR} on; upgrade it`,
      );
    if (pools === undefined)
      unchecked('The namespaces of the pools were not checked: mend the configuration first');
    for (const [namespace, ofIt] of Map.groupBy(pools ?? [], (pool) => pool.namespace))
      await checkNamespace(cluster, namespace, ofIt, findings);
  } catch (error) {
    if (error instanceof ConfigError) mend(...error.problems);
    else
      mend(
        `The cluster cannot be asked: ${classifyKubeError(error).message}; check the kubeconfig, its credentials, and the way there`,
      );
  } finally {
    cluster?.close();
  }
  return found;
}

async function checkNamespace(
  cluster: Cluster,
  namespace: string,
  pools: readonly Pool[],
  { mend, remark }: ReturnType<typeof findingsOf>,
): Promise<void> {
  const hooked = pools.some(({ template }) => hasHooks(template));
  const rights = await findMissingRights(cluster, 'scheduler', namespace, hooked);
  if (rights.length > 0)
    mend(
      `Rights are missing in the namespace ${namespace}: ${rights.join(', ')}. Apply the Role and the RoleBinding of the scheduler there, and create the namespace if it is missing`,
    );
  for (const pool of pools) {
    const failure = rights.includes('pods create') ? undefined : await tryPool(cluster, pool);
    if (failure !== undefined)
      (isFullForNow(failure) ? remark : mend)(
        `The cluster takes no pod of the pool ${pool.name} (${wordsOf(failure)}): ${adviseOnPod(failure)}`,
      );
    const ofSecret =
      failure !== undefined || rights.includes('secrets create')
        ? undefined
        : await trySecret(cluster, pool);
    if (ofSecret !== undefined)
      mend(
        `The cluster takes no Secret of the pool ${pool.name} (${wordsOf(ofSecret)}): let the namespace ${namespace} have one for each worker`,
      );
    if (failure?.kind === 'not_found' || rights.includes('secrets get')) continue;
    for (const name of new Set(secretsIn(pool.template?.spec)))
      if (!(await secretExists(cluster, { namespace, name })))
        mend(
          `The template of the pool ${pool.name} names the Secret ${name}, which is not in the namespace ${namespace}: create it there`,
        );
  }
}

/** Without the call. */
const wordsOf = ({ message }: KubeFailure): string => message.replace(/^[^:]*: /, '');

/** The Secrets that a part of a template names: to pull images, for variables, and as volumes. */
const secretsIn = (part: unknown): string[] =>
  Object.entries(Array.isArray(part) ? part : asRecord(part)).flatMap(([key, value]) => {
    if (key === 'imagePullSecrets') return asList(value).flatMap(secretNamed);
    return /^secret(?:Ref|KeyRef)?$/.test(key) ? secretNamed(value) : secretsIn(value);
  });

/** None where the pod starts without it. */
function secretNamed(reference: unknown): string[] {
  const { name, secretName = name, optional } = asRecord(reference);
  return typeof secretName === 'string' && optional !== true ? [secretName] : [];
}
