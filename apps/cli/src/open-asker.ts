import { Problem } from '@paddock/api/problem';
import { clientConfig, connectDatabase } from '@paddock/db/connection/connect';
import { createFitness } from '@paddock/db/connection/readiness';
import type { Environment } from '@paddock/runtime/settings';
import { userInfo } from 'node:os';
import { apiAsker } from './api-asker.ts';
import { type Asker, NoAnswer } from './asker.ts';
import { WrongUsage } from './command.ts';
import { type Place, readPlace } from './settings.ts';

/** In the name of `person`, else of who is logged in here. Throws a WrongUsage or ConfigError. */
export function openAsker(environment: Environment, person?: string): Asker {
  const place = readPlace(environment);
  if ('database' in place) return databaseAsker(place.database, person ?? userInfo().username);
  if (person !== undefined)
    throw new WrongUsage('--by is for DATABASE_URL: over the API, PADDOCK_TOKEN says who acts.');
  return apiAsker(place.api);
}

/** Longer than a list ever takes, and short enough for a person who waits. */
const STATEMENT_TIMEOUT_MS = 10_000;

/** Answers from the database, in the name of `person`. */
function databaseAsker(
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
