import { Problem } from '@paddock/api/problem';
import { clientConfig, connectDatabase } from '@paddock/db/connection/connect';
import { createFitness } from '@paddock/db/connection/wait-until-fit';
import { type Asker, NoAnswer } from './asker.ts';
import type { Place } from './settings.ts';

/** Longer than a list ever takes, and short enough for a person who waits. */
const STATEMENT_TIMEOUT_MS = 10_000;

/** Answers from the database, in the name of `person`. */
export function databaseAsker(
  { url, schema }: Extract<Place, { database: unknown }>['database'],
  person: string,
): Asker {
  const options = {
    url,
    schema,
    applicationName: 'paddock',
    poolSize: 1,
    forLists: true,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  };
  const { db, close } = connectDatabase(options);
  const whyUnfit = createFitness({ db, schema, config: clientConfig(options) });
  return {
    name: `the database, schema ${schema}`,
    async ask(endpoint, fields) {
      const reason = await whyUnfit();
      if (reason !== undefined) throw new NoAnswer(`The database cannot be used: ${reason}.`);
      const input = endpoint.input.parse(fields);
      return endpoint
        .answer({ db, person, from: 'terminal' }, input)
        .catch((error: unknown): never => {
          throw error instanceof Problem ? new NoAnswer(error.detail, { cause: error }) : error;
        });
    },
    close,
  };
}
