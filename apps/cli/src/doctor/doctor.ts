import { connectDatabase, type DatabaseConnection } from '@paddock/db/connection/connect';
import { databaseUrl as urlOf } from '@paddock/db/connection/database-url';
import { configFileToLoad } from '@paddock/domain/pools/config-file';
import { clusterSettings } from '@paddock/kube/cluster-settings';
import { ConfigError } from '@paddock/runtime/config-error';
import { serviceSettings } from '@paddock/runtime/service-settings';
import { type Environment, optional, readSettings } from '@paddock/runtime/settings';
import { readYamlFile } from '@paddock/runtime/yaml-file';
import { printable } from '../columns.ts';
import { type Command, JSON_OPTION } from '../command.ts';
import { checkCluster } from './check-cluster.ts';
import { checkPools, remarksOf } from '../pools-check.ts';
import { checkDatabase } from './check-database.ts';
import { checkGitHub } from './check-github.ts';
import {
  checkServices,
  type Finding,
  findingsOf,
  type Level,
  LEVELS,
  worstFirst,
} from '@paddock/api/findings/findings';

/** Those of the services, as each reads them. */
const settings = {
  ...serviceSettings,
  databaseUrl: optional(serviceSettings.databaseUrl),
  configPath: optional(serviceSettings.configPath),
  ...clusterSettings,
};

const HEADINGS: Readonly<Record<Level, string>> = {
  mend: 'To mend:',
  remark: 'To know:',
  unchecked: 'Not checked:',
};

export const doctor: Command = {
  name: 'doctor',
  takes: '[FILE]',
  summary: `Says what is wrong with this installation, the worst first, and what to do about each. Checks the
configuration, the database, the services, the GitHub Apps and the cluster, as the services do: with
DATABASE_URL, PADDOCK_CONFIG (or FILE) and the cluster of PADDOCK_KUBECONFIG or of its own pod.
Changes nothing. Exit code 1: something has to be mended.`,
  options: { json: JSON_OPTION },
  async run({ words: [word], options, environment }) {
    const findings = await examine(environment, word);
    const isWell = findings.every(({ level }) => level !== 'mend');
    const stdout = options['json']
      ? `${JSON.stringify({ isWell, findings })}\n`
      : describe(findings);
    return { code: isWell ? 0 : 1, stdout, stderr: '' };
  },
};

/** All findings, the worst first. `now`: milliseconds since the epoch. */
export async function examine(
  environment: Environment,
  given?: string,
  now: () => number = Date.now,
): Promise<Finding[]> {
  const { values, problems } = readSettings(settings, environment);
  const { databaseUrl, schema, sslMode, passFile, configPath, kubeconfig } = values as Partial<
    typeof values
  >;
  const { found, mend, unchecked } = findingsOf('configuration');
  mend(...problems);
  const file = given ?? configPath;
  if (file === undefined)
    unchecked(
      'The configuration, GitHub and the cluster were not checked: PADDOCK_CONFIG is not set, and no FILE is named',
    );
  else found.push(...checkConfiguration(file));

  let connection: DatabaseConnection | undefined;
  let isFit = false;
  const url = databaseUrl && urlOf({ databaseUrl, sslMode, passFile });
  if (url !== undefined && schema !== undefined) connection = connect(url, schema, found);
  else if (!problems.some((problem) => /^(?:DATABASE_URL|PADDOCK_SCHEMA)/.test(problem)))
    found.push({
      level: 'unchecked',
      part: 'database',
      sentence: 'The database and the services were not checked: DATABASE_URL is not set.',
    });
  try {
    if (connection !== undefined && url !== undefined && schema !== undefined) {
      const ofDatabase = await checkDatabase({ url, connection, schema, now });
      found.push(...ofDatabase);
      isFit = ofDatabase.every(({ level }) => level !== 'mend');
      if (isFit) found.push(...(await checkServices(connection.db)));
    }
    const db = isFit ? connection?.db : undefined;
    if (file !== undefined) found.push(...(await checkGitHub({ file, environment, db, now })));
    found.push(...(await checkClusterOf(file, kubeconfig, environment)));
    return worstFirst(found);
  } finally {
    await connection?.close();
  }
}

async function checkClusterOf(
  file: string | undefined,
  kubeconfigFile: string | undefined,
  environment: Environment,
): Promise<Finding[]> {
  const isInPod = (environment['KUBERNETES_SERVICE_HOST'] ?? '') !== '';
  const { found, unchecked } = findingsOf('cluster');
  if (file !== undefined && kubeconfigFile === undefined && !isInPod)
    unchecked('The cluster was not checked: PADDOCK_KUBECONFIG is not set, and this is no pod');
  else if (file !== undefined) {
    const pools = readYamlFile(file, configFileToLoad).value?.pools;
    found.push(...(await checkCluster({ kubeconfigFile, pools })));
  }
  return found;
}

/** Longer than a list ever takes, and short enough for a person who waits. */
const STATEMENT_TIMEOUT_MS = 10_000;
/** The longest a person waits for a lock that a service may hold. */
const LOCK_TIMEOUT_MS = 2_000;

function connect(url: string, schema: string, found: Finding[]): DatabaseConnection | undefined {
  try {
    return connectDatabase({
      url,
      schema,
      applicationName: 'paddock-doctor',
      poolSize: 1,
      forLists: true,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      lockTimeoutMs: LOCK_TIMEOUT_MS,
    });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const ofDatabase = findingsOf('database');
    ofDatabase.mend(...error.problems);
    found.push(...ofDatabase.found);
    return undefined;
  }
}

function describe(findings: readonly Finding[]): string {
  const blocks = LEVELS.flatMap((level) => {
    const sentences = findings.filter((one) => one.level === level);
    const lines = sentences.map(({ sentence }) => `  - ${printable(sentence)}`);
    return lines.length === 0 ? [] : [`${[HEADINGS[level], ...lines].join('\n')}\n`];
  });
  if (findings.length === 0) return 'Nothing is wrong.\n';
  const isWell = findings.every(({ level }) => level === 'unchecked');
  return [...(isWell ? ['Nothing that was checked is wrong.\n'] : []), ...blocks].join('\n');
}

function checkConfiguration(file: string): Finding[] {
  const { found, mend, remark } = findingsOf('configuration');
  const check = checkPools(file, undefined);
  mend(...check.problems);
  remark(...remarksOf(check));
  return found;
}
