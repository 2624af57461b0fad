import { z } from 'zod';
import { asRecord } from './as-record.ts';
import { isWrongId } from './entities.ts';
import { misplacedGates, sameGateAs } from './gate-rules.ts';
import { pool, type Pool } from './pool.ts';

/**
 * Adds the checks across pools. They run even if other checks fail, so that an operator sees all
 * problems.
 */
export function checkedTogether<T extends z.ZodType>(schema: T): T {
  return schema.superRefine((content, context) => checkTogether(content, context), {
    when: () => true,
  });
}

/** The valid parts of a content. An invalid pool is undefined; its own schema reports it. */
export function validPartsOf(content: unknown): {
  pools: (Pool | undefined)[];
  entities: Record<string, unknown>;
} {
  const { pools, entities } = z
    .object({
      pools: z.array(z.unknown()).catch([]),
      entities: z.record(z.string(), z.unknown()).catch({}),
    })
    .catch({ pools: [], entities: {} })
    .parse(content);
  return { pools: pools.map((candidate) => pool.safeParse(candidate).data), entities };
}

/** Names and label sets must be unique, and caps must be enforceable. */
function checkTogether(content: unknown, context: z.RefinementCtx): void {
  const { pools, entities } = validPartsOf(content);
  const report = (path: PropertyKey[], message: string) =>
    context.addIssue({ code: 'custom', path, message });
  const byName = new Set<string>();
  const byLabels = new Map<string, Pool[]>();
  for (const [index, data] of pools.entries()) {
    if (data === undefined) continue;
    const { name, labels, registration, maxWorkersPerRepository, warm: kept = [] } = data;
    if (data.runnerGroupVisibility === 'private' && data.publicRepositories) {
      report(
        ['pools', index, 'runnerGroupVisibility'],
        'private keeps public repositories out, which publicRepositories lets in',
      );
    }
    if (byName.has(name)) report(['pools', index, 'name'], `there is another pool named ${name}`);
    byName.add(name);
    const key = JSON.stringify(labels);
    const alike = byLabels.get(key) ?? [];
    const twin = alike.find((other) => sameGateAs(data)(other));
    if (twin !== undefined) {
      report(
        ['pools', index, 'labels'],
        `pool ${twin.name} has the same labels: GitHub could not tell the two apart`,
      );
    }
    byLabels.set(key, [...alike, data]);
    for (const { path, message } of misplacedGates(data))
      report(['pools', index, ...path], message);
    for (const [nth, { scope }] of kept.entries()) {
      if (registration === 'organization' || scope.includes('/')) continue;
      report(
        ['pools', index, 'warm', nth, 'scope'],
        `must be ${scope}/REPOSITORY, because the runners of this pool register at repositories`,
      );
    }
    if (maxWorkersPerRepository !== null && registration === 'organization') {
      report(
        ['pools', index, 'maxWorkersPerRepository'],
        'a cap per repository needs registration: repository, because GitHub gives any job of an organisation any of its runners',
      );
    }
  }
  for (const key of Object.keys(entities).filter(isWrongId)) {
    report(['entities', key], "must be id: and the entity's number, as in id:9919");
  }
  for (const [key, rule] of Object.entries(entities)) {
    if (key === '*') continue;
    for (const common of ['commonMaxWorkers', 'commonWeight'].filter((name) =>
      Object.hasOwn(asRecord(rule), name),
    )) {
      report(
        ['entities', key, common],
        "belongs under '*', whose entities are not named; a named entity has maxWorkers and weight",
      );
    }
  }
  const logins = Object.keys(entities).map((login) => login.toLowerCase());
  if (new Set(logins).size !== logins.length)
    report(['entities'], 'the same login is listed twice');
}
