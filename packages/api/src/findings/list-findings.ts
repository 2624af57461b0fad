import { readDatabaseFacts } from '@paddock/db/database-checks';
import { sql } from 'kysely';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { checkFacts } from './check-facts.ts';
import { checkServices } from './check-services.ts';
import { findingsOf, LEVELS, PARTS, worstFirst } from './findings.ts';

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
