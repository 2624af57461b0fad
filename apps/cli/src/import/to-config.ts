import { configFileToLoad } from '@paddock/domain/pools/config-file';
import { checkContent } from '@paddock/runtime/yaml-file';
import { warningsAbout } from '../warnings.ts';
import { appsOf } from './apps.ts';
import {
  type GitHubScope,
  githubScope,
  hasGap,
  isFilledIn,
  type RunnerSet,
  said,
} from './runner-set.ts';
import { accountCommand, withAccount } from './hook-account.ts';

type Mapping = Record<string, unknown>;

export interface ImportOptions {
  readonly url?: string | undefined;
  readonly namespace?: string | undefined;
  readonly prefix?: string | undefined;
  readonly appId?: number | undefined;
  readonly scaleSetLabels: boolean;
  readonly allowUntrusted: boolean;
}

export interface Said {
  readonly from: string;
  readonly sentence: string;
}

interface Candidate {
  readonly set: RunnerSet;
  readonly pool: Mapping;
  readonly scope: GitHubScope;
  readonly notes: readonly string[];
  /** Make the account of its pods. */
  readonly commands: readonly string[];
}

/** Where the old controller's guide puts runners. */
const USUAL_NAMESPACE = 'arc-runners';

export function toConfig(sets: readonly RunnerSet[], options: ImportOptions) {
  const refused: Said[] = [];
  const names = new Set<string>();
  let candidates: Candidate[] = [];
  for (const set of sets) {
    const { from } = set;
    const scope = scopeOf(set, options);
    const [first] = candidates;
    if (typeof scope === 'string') refused.push({ from, sentence: scope });
    else if (first !== undefined && first.scope.apiUrl !== scope.apiUrl)
      refused.push({
        from,
        sentence: `githubConfigUrl: is of ${scope.apiUrl}, and one Paddock serves one GitHub, here ${first.scope.apiUrl}: import it alone`,
      });
    else candidates.push(candidateOf(set, scope, names, options));
  }
  for (;;) {
    const isOnly = new Set(candidates.map(({ scope }) => scope.login?.toLowerCase())).size === 1;
    const pools = candidates.map(({ pool, scope: { login } }) =>
      isOnly || login === undefined ? pool : { ...pool, entities: [login] },
    );
    const apps = appsOf(
      candidates.map(({ set }) => set),
      options.appId,
    );
    const apiUrl = candidates[0]?.scope.apiUrl;
    const config = said<unknown>({
      github: said<unknown>({
        apiUrl: apiUrl === 'https://api.github.com' ? undefined : apiUrl,
        apps: apps.map(({ app }) => app),
      }),
      pools,
      entities: entitiesOf(candidates),
    });
    const { value, written, problems } = checkContent('', config, configFileToLoad);
    if (value !== undefined || candidates.length === 0)
      return {
        config: candidates.length === 0 ? undefined : config,
        pools: candidates.map(({ set: { from }, pool }) => ({ from, pool: pool['name'] })),
        refused,
        remarks: candidates.flatMap(({ set: { from }, notes }) =>
          notes.map((sentence) => ({ from, sentence })),
        ),
        /** As `pools check` warns of the file. */
        warnings: value === undefined ? [] : [...warningsAbout(value, written)],
        /** Commands that make the Secret of the App, and accounts of pods. */
        commands: [...apps, ...candidates].flatMap(({ commands }) => commands),
        isAppUnknown: apps.some(({ isKnown }) => !isKnown),
      };
    const found = problemsIn(problems);
    candidates = candidates.flatMap((candidate, index) => {
      const [key, why] = found.get(index) ?? found.get(undefined) ?? [];
      if (why === undefined) return [candidate];
      const { set, pool } = candidate;
      if (key === 'allowUntrusted' && options.allowUntrusted && pool['allowUntrusted'] !== true)
        return [{ ...candidate, pool: { ...pool, allowUntrusted: true } }];
      const sentence = `${key ?? ''}: ${why.replace('write allowUntrusted: true', 'pass --allow-untrusted')}`;
      refused.push({ from: set.from, sentence });
      return [];
    });
  }
}

function problemsIn(
  problems: readonly string[],
): Map<number | undefined, readonly [string, string]> {
  const found = new Map<number | undefined, readonly [string, string]>();
  for (const problem of problems) {
    const [, index, key = '', why = problem] =
      /^: (?:pools\.(\d+)\.?)?([^:]*): ([^]*)$/.exec(problem) ?? [];
    const pool = index === undefined ? undefined : Number(index);
    if (!found.has(pool)) found.set(pool, [key, why]);
  }
  return found;
}

function scopeOf(set: RunnerSet, options: ImportOptions): GitHubScope | string {
  const filledIn = [set.name, ...set.labels].find(isFilledIn);
  if (filledIn !== undefined)
    return `runnerScaleSetName: ${filledIn} is filled in by another program: name it with --name`;
  if (set.labels.length === 0) return 'labels: there are none, so no job would come';
  const { url } = set;
  const scope = [url, options.url]
    .flatMap((one) => (one === undefined || isFilledIn(one) ? [] : [one]))
    .flatMap((one) => githubScope(one) ?? [])[0];
  if (scope !== undefined) return scope;
  if (url === undefined) return 'githubConfigUrl: is missing: name the address with --url';
  return isFilledIn(url)
    ? `githubConfigUrl: ${url} is filled in by another program: name the address with --url`
    : 'githubConfigUrl: must be the address of an organisation, a repository or an enterprise at GitHub';
}

function candidateOf(
  set: RunnerSet,
  scope: GitHubScope,
  names: Set<string>,
  options: ImportOptions,
): Candidate {
  const { login, repository } = scope;
  const notes = [...set.notes];
  const own = set.namespace !== undefined && !isFilledIn(set.namespace) ? set.namespace : undefined;
  const namespace = own ?? options.namespace ?? USUAL_NAMESPACE;
  if (own === undefined && options.namespace === undefined)
    notes.push(
      `namespace: is not said here; the pool has ${USUAL_NAMESPACE}: --namespace names another`,
    );
  const prefix = options.prefix ?? '';
  const labels = [...new Set(set.labels.map((label) => prefix + label.toLowerCase()))];
  if (set.scaleSetLabels.length > 0 && !options.scaleSetLabels)
    notes.push(
      `scaleSetLabels: ${set.scaleSetLabels.join(', ')} are left out: with --scale-set-labels the pool takes every job that asks for these alone`,
    );
  const group = set.runnerGroup?.toLowerCase() === 'default' ? undefined : set.runnerGroup;
  if (group !== undefined && repository !== undefined)
    notes.push('runnerGroup: is left out: runners of a repository are in no group');
  if (set.max === 0) notes.push('maxRunners: is 0, so the pool makes no workers');
  const { min, times = [] } = set;
  const isWarm = min > 0 || times.length > 0;
  if (isWarm && login === undefined)
    notes.push(
      'minRunners: is left out: warm names an organisation, and an enterprise has several',
    );
  const place = repository === undefined ? login : `${login}/${repository}`;
  const name = poolName(prefix + set.name, namespace, names);
  const account = `paddock-${name}`;
  const warm = {
    scope: place,
    ...(min > 0 && { workers: min }),
    ...(times.length > 0 && { times }),
  };
  const pool = said({
    name,
    labels: options.scaleSetLabels ? [...labels, ...set.scaleSetLabels] : labels,
    namespace,
    ...(repository === undefined
      ? { runnerGroup: group }
      : { registration: 'repository', repositories: [place] }),
    maxWorkers: set.max,
    warm: isWarm && place !== undefined ? [warm] : undefined,
    ...(set.accountRules === undefined ? set.pod : withAccount(set.pod, account)),
  });
  for (const [key, text] of gapsIn(pool))
    notes.push(`${key}: ${text} is filled in by another program: write there what that puts in`);
  const commands =
    set.accountRules === undefined ? [] : [accountCommand(account, namespace, set.accountRules)];
  return { set, pool, scope, notes, commands };
}

/** Texts of a pool with a gap, and their keys. What shells read may look so, too. */
function gapsIn(value: unknown, path: readonly string[] = []): [key: string, text: string][] {
  if (typeof value === 'string') return hasGap(value) ? [[path.join('.'), value]] : [];
  if (['command', 'args'].includes(path.at(-1) ?? '')) return [];
  return Object.entries(value ?? {}).flatMap(([part, one]) => gapsIn(one, [...path, part]));
}

const LONGEST_NAME = 30;

/** As much of a text as a pool's name may have. */
export const nameIn = (text: string, most = LONGEST_NAME): string =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]+/g, '-')
    .replace(/^[^a-z]+/, '')
    .slice(0, most)
    .replace(/[.-]+$/, '');

/** A name that pools may have, and no other pool has. */
function poolName(given: string, namespace: string, names: Set<string>): string {
  let unique = nameIn(given) || 'pool';
  if (names.has(unique)) unique = nameIn(`${nameIn(given, 15)}-${namespace}`);
  for (let n = 2; names.has(unique); n++) unique = `${nameIn(given, 25)}-${n}`;
  names.add(unique);
  return unique;
}

/** There nothing bounds an entity but its sets: here its cap must leave room for all of them. */
function entitiesOf(candidates: readonly Candidate[]): Mapping {
  const groups = Map.groupBy(candidates, ({ scope: { login } }) => login?.toLowerCase());
  return Object.fromEntries(
    [...groups].map(([, [first, ...others]]) => {
      const login = first?.scope.login;
      const caps = [first, ...others].map((one) => one?.set.max);
      const most = caps.reduce(
        (all, cap) => (all === undefined || cap === undefined ? undefined : all + cap),
        0,
      );
      const cap = most === undefined ? null : Math.min(most, 100_000);
      return login === undefined
        ? ['*', { maxWorkers: cap, ...(cap === null ? {} : { commonMaxWorkers: cap }) }]
        : [login, { maxWorkers: cap }];
    }),
  );
}
