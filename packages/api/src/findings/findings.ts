import { type DatabaseFacts, readDatabaseFacts, warningOf } from '@paddock/db/database-checks';
import { findSecondsAhead, MOST_SECONDS_AHEAD } from '@paddock/db/instants';
import type { Db } from '@paddock/db/schema/tables';
import { duration } from '@paddock/domain/text/duration';
import { readFleetDiagnoses } from '../diagnoses/read-fleet-diagnoses.ts';
import { sqlStateOf } from '@paddock/db/connection/errors';
import { findMatchingSettings } from '@paddock/db/instance';
import { findLapsedLeases } from '@paddock/db/leases/leases';
import { currentPoolsDocument } from '@paddock/db/pools/pools-documents';
import { LIMITS_BY_PEOPLE } from '@paddock/domain/matching/wait-reasons';
import type { FleetDiagnosis } from '@paddock/domain/why/diagnose-fleet';
import { actorOn, count } from '@paddock/domain/why/reason-explanations';
import { readSweeps, cadenceRules, sweepSchedules } from '@paddock/queue/sweep-schedules';
import { valuesOf } from '@paddock/runtime/rules';
import { sql } from 'kysely';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';

/** The worst first. `mend`: it does not work until a person acts. `unchecked`: nothing is known. */
export const LEVELS = ['mend', 'remark', 'unchecked'] as const;

export type Level = (typeof LEVELS)[number];

/** The worst first: what holds up all else. */
export const PARTS = ['configuration', 'database', 'services', 'github', 'cluster'] as const;

export type Part = (typeof PARTS)[number];

export interface Finding {
  readonly level: Level;
  readonly part: Part;
  readonly sentence: string;
}

const rankOf = ({ level, part }: Finding): number =>
  LEVELS.indexOf(level) * PARTS.length + PARTS.indexOf(part);

export const worstFirst = (findings: readonly Finding[]): Finding[] =>
  findings.toSorted((a, b) => rankOf(a) - rankOf(b));

/** Collects what one part finds. Sentences need no full stop. */
export function findingsOf(part: Part) {
  const found: Finding[] = [];
  const add =
    (level: Level) =>
    (...sentences: readonly string[]): void => {
      for (const sentence of sentences)
        found.push({ level, part, sentence: `${sentence.replace(/(?<![.\s])[.\s]+$/, '')}.` });
    };
  return { found, mend: add('mend'), remark: add('remark'), unchecked: add('unchecked') };
}

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** What the scheduler needs unless it is set otherwise: its pool, and two beside it. */
const CONNECTIONS = 10;

/** What to mend although a service works on the database. Rejects if PostgreSQL does. */
export async function checkFacts(
  db: Db,
  facts: DatabaseFacts,
  { schema, now }: { readonly schema: string; readonly now: number },
): Promise<Finding[]> {
  const { found, mend, remark } = findingsOf('database');
  if (facts.powerless.length > 0)
    mend(
      `The roles ${facts.powerless.join(', ')} have no rights in the schema ${schema}: run the migration again with a role that may grant them`,
    );
  const warning = warningOf(facts, CONNECTIONS);
  if (warning !== undefined) remark(`The database works, but ${warning}`);
  const ahead = await findSecondsAhead(db, new Date(now));
  if (Math.abs(ahead) > MOST_SECONDS_AHEAD)
    mend(
      `The clock of PostgreSQL is ${duration(Math.abs(ahead) * 1_000)} ${ahead > 0 ? 'ahead of' : 'behind'} that of this machine: set both, for example by NTP`,
    );
  return found;
}

export const INSUFFICIENT_PRIVILEGE = '42501';

/** What people want, and what they have to lift. */
const WILLED: ReadonlySet<string> = new Set(
  LIMITS_BY_PEOPLE.filter((reason) => actorOn(reason) === 'platform'),
);

/** What the rows say of the services and of the work. Never rejects. */
export async function checkServices(db: Db): Promise<Finding[]> {
  const { found, mend, remark, unchecked } = findingsOf('services');
  try {
    if ((await currentPoolsDocument(db)) === undefined)
      mend(
        'No scheduler has loaded the pools, so no delivery is taken: start the scheduler, or mend what its readiness says',
      );
    for (const one of await readFleetDiagnoses(db)) {
      const isForPeople = one.actor === 'platform' && !WILLED.has(one.name);
      (isForPeople ? mend : remark)(sentenceOf(one));
    }
    mend(...(await findOverdue(db)));
    for (const { name, seconds } of await findLapsedLeases(db))
      mend(
        `No scheduler has done ${name} for ${duration(seconds * 1_000)}: its lease has lapsed; look at the scheduler's pods and their log`,
      );
  } catch (error) {
    const isOfRights = sqlStateOf(error) === INSUFFICIENT_PRIVILEGE;
    if (isOfRights)
      unchecked(
        `What the rows say of the services was not checked: ${messageOf(error)}; ask with the login of the console, by \`paddock troubles\``,
      );
    else mend(`What the rows say of the services cannot be read: ${messageOf(error)}`);
  }
  return found;
}

/** The sweeps that do not succeed, a sentence each. Of one that is paused, its switch tells. */
async function findOverdue(db: Db): Promise<string[]> {
  const { appIds = [] } = (await findMatchingSettings(db)) ?? {};
  const sweeps = await readSweeps(db, sweepSchedules(valuesOf(cadenceRules), appIds));
  return sweeps.flatMap(({ name, overdueFor, pausedBy }) =>
    overdueFor === undefined || pausedBy !== null
      ? []
      : [`The sweep ${name} repairs nothing: ${overdueFor}; look at the reconciler and its log`],
  );
}

const sentenceOf = ({ jobs, sentence, advice }: FleetDiagnosis): string =>
  `${jobs > 0 ? `${count(jobs, 'waiting job')}: ` : ''}${sentence} ${advice}`;

/** A console has neither keys nor rights in a cluster. */
const ELSEWHERE =
  'The configuration, the GitHub Apps, the cluster and the mechanisms of PostgreSQL are checked where their keys and rights are: run `paddock doctor` in a pod of the scheduler';

export const listFindingsEndpoint = endpoint({
  name: 'listFindings',
  path: '/api/v1/findings',
  summary:
    'Says what the rows show to be wrong with the installation, the worst first, and what to do about each.',
  input: z.object({}),
  output: z.object({
    isWell: z.boolean().describe('Nothing that was checked has to be mended'),
    findings: z.array(
      z.object({
        level: z
          .enum(LEVELS)
          .describe('`mend`: it does not work until a person acts; `unchecked`: nothing is known'),
        part: z.enum(PARTS),
        sentence: z.string().describe('What is wrong, and what to do'),
      }),
    ),
  }),
  async answer({ db }) {
    const { schema } = await db
      .selectNoFrom(sql<string>`current_schema()`.as('schema'))
      .executeTakeFirstOrThrow();
    const { found, unchecked } = findingsOf('configuration');
    unchecked(ELSEWHERE);
    const facts = await readDatabaseFacts(db, { schema });
    found.push(...(await checkFacts(db, facts, { schema, now: Date.now() })));
    found.push(...(await checkServices(db)));
    const isWell = found.every(({ level }) => level !== 'mend');
    return { isWell, findings: worstFirst(found) };
  },
});
