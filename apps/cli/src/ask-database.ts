import { userInfo } from 'node:os';
import type { Endpoint } from '@paddock/api/endpoint';
import { Problem } from '@paddock/api/problem';
import { clientConfig, connectDatabase } from '@paddock/db/connection/connect';
import { databaseUrl } from '@paddock/db/connection/database-url';
import { createFitness } from '@paddock/db/connection/wait-until-fit';
import { readConfig } from '@paddock/runtime/read-config';
import { serviceSettings } from '@paddock/runtime/service-settings';
import { z } from 'zod';
import {
  type Command,
  type CommandResult,
  type Given,
  JSON_OPTION,
  WrongUsage,
} from './command.ts';

interface Question<I extends z.ZodObject, O extends z.ZodType> {
  readonly name: string;
  readonly takes: string;
  readonly summary: string;
  readonly options?: Command['options'];
  readonly endpoint: Endpoint<I, O>;
  /** The endpoint's input, unchecked. Throws a WrongUsage. */
  readonly input: (given: Given) => Readonly<Record<string, unknown>>;
  /** The answer as text. */
  readonly print: (answer: z.input<O>) => string;
}

/** Options of a command that acts. */
const ACT = {
  by: {
    type: 'string',
    value: 'NAME',
    doc: 'who acts, as the rows and the audit name it; without it, your login here',
  },
  note: { type: 'string', value: 'TEXT', doc: 'why, for those who read it later' },
} as const;

/** A command that puts an endpoint's question to the database, or does what it does there. */
export const askCommand = <I extends z.ZodObject, O extends z.ZodType>({
  name,
  takes,
  summary,
  options = {},
  endpoint,
  input,
  print,
}: Question<I, O>): Command => ({
  name,
  takes,
  summary,
  options: { ...options, ...(endpoint.access === 'operate' && ACT), json: JSON_OPTION },
  run: (given) => {
    const { by: person, note } = given.options;
    const asked = endpoint.access === 'operate' ? { ...input(given), note } : input(given);
    const read = endpoint.input.safeParse(asked);
    if (!read.success) throw new WrongUsage(z.prettifyError(read.error));
    return withDatabase(given, async (db) => {
      const answer = await endpoint.answer(
        {
          db,
          person: typeof person === 'string' ? person : userInfo().username,
          from: 'terminal',
        },
        read.data,
      );
      return given.options['json'] === true ? `${JSON.stringify(answer)}\n` : print(answer);
    });
  },
});

const settings = {
  databaseUrl: serviceSettings.databaseUrl,
  sslMode: serviceSettings.sslMode,
  schema: serviceSettings.schema,
};

/** Longer than a list ever takes, and short enough for a person who waits. */
const STATEMENT_TIMEOUT_MS = 10_000;

async function withDatabase(
  { environment }: Given,
  ask: (db: ReturnType<typeof connectDatabase>['db']) => Promise<string>,
): Promise<CommandResult> {
  const config = readConfig(settings, environment, () => ({}));
  const options = {
    url: databaseUrl(config),
    schema: config.schema,
    applicationName: 'paddock',
    poolSize: 1,
    forLists: true,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  };
  const { db, close } = connectDatabase(options);
  try {
    const fitness = createFitness({ db, schema: config.schema, config: clientConfig(options) });
    const reason = await fitness();
    if (reason !== undefined) return failed(`The database cannot be used: ${reason}.`);
    return { code: 0, stdout: await ask(db), stderr: '' };
  } catch (error) {
    if (error instanceof Problem) return failed(error.detail);
    throw error;
  } finally {
    await close();
  }
}

const failed = (sentence: string): CommandResult => ({
  code: 1,
  stdout: '',
  stderr: `${sentence}\n`,
});
