import type { Endpoint } from '@paddock/api/endpoint';
import { mistakeInWords } from '@paddock/api/mistake-in-words';
import type { z } from 'zod';
import { type Asker, type Fields, NoAnswer } from './asker.ts';
import {
  type Command,
  type CommandResult,
  type Given,
  JSON_OPTION,
  WrongUsage,
} from './command.ts';
import { openAsker } from './open-asker.ts';
import { askPages, firstPage, isList } from './pages.ts';

interface Question<I extends z.ZodObject, O extends z.ZodType> {
  readonly name: string;
  readonly takes: string;
  readonly words?: Command['words'];
  readonly summary: string;
  readonly options?: Command['options'];
  readonly endpoint: Endpoint<I, O>;
  /** The endpoint's input, unchecked; other fields are dropped. Throws a WrongUsage. */
  readonly input: (given: Given) => Fields;
  /** The answer as text. */
  readonly print: (answer: z.input<O>) => string;
}

/** Options of a command that acts. */
const ACT = {
  by: {
    type: 'string',
    value: 'NAME',
    doc: 'who acts, as the rows and the audit name it; without it, your login here (over the API, the token)',
  },
  note: { type: 'string', value: 'TEXT', doc: 'why, for those who read it later' },
} as const;

/** Only who changes something is noted, with why. */
const isAct = ({ method }: Endpoint): boolean => method !== 'GET';

/** A command that puts a question to an endpoint: in the database, or over the API. */
export const askCommand = <I extends z.ZodObject, O extends z.ZodType>({
  name,
  takes,
  words = [],
  summary,
  options = {},
  endpoint,
  input,
  print,
}: Question<I, O>): Command => ({
  name,
  takes,
  words,
  summary,
  options: { ...options, ...(isAct(endpoint) && ACT), json: JSON_OPTION },
  run(given) {
    const { by, note } = given.options;
    const asked = isAct(endpoint) ? { ...input(given), note } : input(given);
    const known = Object.entries(asked).filter(([field]) => field in endpoint.input.shape);
    const question = checked(endpoint, Object.fromEntries(known));
    const asker = openAsker(
      given.environment,
      // Of a question, `--by` is what a list is by.
      isAct(endpoint) && typeof by === 'string' ? by : undefined,
    );
    return resultOf(asker, async () => {
      const answer = await question(asker);
      return given.options['json'] === true ? `${JSON.stringify(answer)}\n` : print(answer);
    });
  },
});

/** How to ask this. Throws a WrongUsage if the endpoint cannot be asked so. */
function checked<I extends z.ZodObject, O extends z.ZodType>(
  endpoint: Endpoint<I, O>,
  fields: Fields,
): (asker: Asker) => Promise<z.input<O>> {
  const first = isList(endpoint) ? firstPage(fields) : { data: { wanted: 0, fields } };
  const { wanted, fields: toAsk } = orWrong(first);
  orWrong(endpoint.input.safeParse(toAsk, { reportInput: true }));
  return (asker) =>
    isList(endpoint) ? askPages(asker, endpoint, toAsk, wanted) : asker.ask(endpoint, toAsk);
}

function orWrong<T>({ data, error }: { readonly data?: T; readonly error?: z.ZodError }): T {
  if (data === undefined)
    throw new WrongUsage(
      (error?.issues ?? [])
        .map((issue) => `${issue.path.join('.')} ${mistakeInWords(issue)}`.trim())
        .join('\n'),
    );
  return data;
}

/** What `ask` resolves to as output, or why there was no answer. Closes the asker. */
export async function resultOf(asker: Asker, ask: () => Promise<string>): Promise<CommandResult> {
  try {
    return { code: 0, stdout: await ask(), stderr: '' };
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    return { code: 1, stdout: '', stderr: `${error.message}\n` };
  } finally {
    await asker.close();
  }
}
