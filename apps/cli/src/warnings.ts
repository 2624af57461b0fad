import { asList, asRecord } from '@paddock/domain/pools/as-record';
import { mayServe, unnamedUsers } from '@paddock/domain/pools/check-together';
import type { ConfigFile } from '@paddock/domain/pools/config-file';
import { nodePowersOf } from '@paddock/domain/pools/node-powers';
import { isForWindows } from '@paddock/domain/pools/is-for-windows';
import {
  DAEMON_CONTAINER,
  isOfficialImage,
  RUNNER_CONTAINER,
  templateImage,
  templateRunner,
} from '@paddock/domain/pools/pod-template';
import type { Pool } from '@paddock/domain/pools/pool';
import { mostWarm } from '@paddock/domain/pools/warm';
import { SHORTEST_DEADLINE_SECONDS } from '@paddock/kube/runner-pod';
import { unknownPodFields } from '@paddock/kube/unknown-fields';

/** '*', an entity's id, or a possible login. */
const ENTITY = /^(?:\*|id:\d+|[A-Za-z0-9][A-Za-z0-9_-]*)$/;

/** What is valid but probably a mistake. `written`: the content without the schema's defaults. */
export function* warningsAbout(
  { pools, entities }: ConfigFile,
  written: unknown,
): Generator<string> {
  const keys = Object.keys(entities);
  if (keys.length === 0)
    yield "entities is empty, so no jobs are served: name entities, or '*' for all.";
  for (const key of keys.filter((one) => !ENTITY.test(one)))
    yield `entities has ${key}, which is no entity's login: it matches no entity.`;
  if (entities['*'] !== undefined && entities['*'].commonMaxWorkers === undefined)
    yield "'*' has no commonMaxWorkers: each entity of one person can have maxWorkers workers.";
  const open = pools.filter(
    ({ registration, repositories, maxWorkers }) =>
      registration === 'organization' && repositories === undefined && maxWorkers !== 0,
  );
  if (open.length > 0)
    yield `One repository can take all that its organisation may have of ${open.map(({ name }) => name).join(', ')}: registration: repository, or a pool for each team, keeps repositories apart.`;
  yield* aboutCaps(pools, entities);
  const asWritten = asList(asRecord(written)['pools']).map(asRecord);
  for (const [index, pool] of pools.entries()) {
    yield* aboutTemplate(pool, asWritten[index]?.['image']);
    yield* aboutUntrusted(entities, pool);
  }
}

const sum = (counts: readonly number[]): number => counts.reduce((all, one) => all + one, 0);

/** Caps of pools and warm workers that the caps of the entities leave no room for. */
function* aboutCaps(pools: readonly Pool[], entities: ConfigFile['entities']): Generator<string> {
  const caps = new Map(
    Object.entries(entities).map(([key, { maxWorkers, commonMaxWorkers }]) => [
      key.toLowerCase(),
      (key === '*' ? commonMaxWorkers : maxWorkers) ?? Infinity,
    ]),
  );
  for (const { name, maxWorkers, warm = [], ...gate } of pools) {
    const limit = maxWorkers ?? Infinity;
    // A key with an id may be any login's.
    const served = [...caps].filter(([key]) => /^(?:\*$|id:)/.test(key) || mayServe(gate, key));
    const most = sum(served.map(([, cap]) => cap));
    if (maxWorkers !== null && most < limit)
      yield `${name} never has its maxWorkers of ${limit}: the entities that it serves may have ${most} in all.`;
    const kept = sum(warm.map(mostWarm));
    if (kept > limit) yield `${name} is to keep ${kept} workers warm, and may have ${limit}.`;
  }
  const warm = pools.flatMap((pool) => pool.warm ?? []);
  const byLogin = Map.groupBy(warm, ({ scope }) => scope.split('/', 1).join().toLowerCase());
  for (const [login, scopes] of byLogin) {
    const kept = sum(scopes.map(mostWarm));
    const cap = caps.get(login) ?? Infinity;
    if (kept > cap) yield `${login} is to have ${kept} warm workers, and its maxWorkers is ${cap}.`;
  }
}

function* aboutTemplate(pool: Pool, writtenImage: unknown): Generator<string> {
  const { name, image, template, containerMode } = pool;
  const { containers, activeDeadlineSeconds: deadline } = template?.spec ?? {};
  const otherImage = templateImage(template);
  if (otherImage === undefined && (writtenImage === undefined || writtenImage === null))
    yield `${name} names no image: it runs ${image}.`;
  if (otherImage !== undefined && otherImage !== image)
    yield `${name} uses its own image ${image}, not ${otherImage} of its template.`;

  const command = asList(templateRunner(template)?.['command'])[0];
  if (isForWindows(pool) && isOfficialImage(image))
    yield `${name} is for nodes with Windows, and its image ${image} is for Linux: name one of yours.`;
  if (isForWindows(pool) && typeof command === 'string' && command.startsWith('/'))
    yield `${name} is for nodes with Windows, and the command ${command} of its runner is a path of Linux: leave it to the image, or write one of Windows.`;

  const names = (containers ?? []).map((container) => container.name);
  const isReplaced = containerMode === 'dind' && names.includes(DAEMON_CONTAINER);
  if (isReplaced)
    yield `${name} drops the container ${DAEMON_CONTAINER} of its template, since containerMode: dind adds one: change that as initContainers[${DAEMON_CONTAINER}].`;
  const others = names.filter((container) => !isReplaced || container !== DAEMON_CONTAINER);
  if (others.length > 0 && !names.includes(RUNNER_CONTAINER))
    yield `${name} has no container named ${RUNNER_CONTAINER} in its template: ${others.join(', ')} will run beside the one that runs jobs.`;

  if (typeof deadline === 'number' && deadline < SHORTEST_DEADLINE_SECONDS)
    yield `${name}: template.spec.activeDeadlineSeconds is raised from ${deadline} to ${SHORTEST_DEADLINE_SECONDS}, or it would end a working runner.`;

  // The cluster drops unknown fields, unless its version is newer than our library.
  for (const { path, meant } of unknownPodFields(template?.spec)) {
    const hint = meant === undefined ? '.' : `; did you mean ${meant}?`;
    yield `${name}: template.spec.${path} is no field of a PodSpec, so the cluster would drop it${hint}`;
  }
}

function* aboutUntrusted(
  entities: Readonly<Record<string, unknown>>,
  pool: Pool,
): Generator<string> {
  const untrusted = unnamedUsers(entities, pool);
  const [first] = untrusted;
  if (first === undefined) return;
  const whom = untrusted.map((one) => one.whom).join(' and ');
  const given = [
    ...nodePowersOf(pool).map((power) => `${power}, which gives jobs power over their node`),
    ...[...tokensIn(pool)].map((token) => `${token}, with which jobs speak to the cluster`),
  ];
  for (const one of given) yield `${pool.name} has ${one}, and serves ${whom}: ${first.remedy}.`;
}

function* tokensIn({ template }: Pool): Generator<string> {
  const spec = asRecord(template?.spec);
  const account = spec['serviceAccountName'] ?? spec['serviceAccount'];
  const isMounted = spec['automountServiceAccountToken'];
  if (isMounted === true || (typeof account === 'string' && isMounted !== false))
    yield `the token of the service account ${typeof account === 'string' ? account : 'default'} in its template`;
  for (const { name, projected } of asList(spec['volumes']).map(asRecord)) {
    const sources = asList(asRecord(projected)['sources']).map(asRecord);
    if (sources.some((source) => Object.hasOwn(source, 'serviceAccountToken')))
      yield `a service account's token in the volume ${String(name)} of its template`;
  }
}
