import type { Endpoint } from '@paddock/api/endpoint';
import { fromDigits } from '@paddock/api/lists/page';
import { z } from 'zod';
import { type Asker, type Fields, NoAnswer } from './asker.ts';
import { columns, more } from './columns.ts';
import {
  type Command,
  type CommandResult,
  type Given,
  JSON_OPTION,
  type Option,
  WrongUsage,
} from './command.ts';
import { openAsker } from './open-asker.ts';

const LONGEST_PAGE = 100;

/** `--limit` of a list: as many pages as it takes. */
const limit = fromDigits(z.number().int().min(1).max(10_000)).default(30);

const isList = ({ input }: Endpoint): boolean => 'limit' in input.shape && 'after' in input.shape;

interface Page {
  readonly items: readonly unknown[];
  readonly next: string | null;
}

const isPage = <T>(answer: T): answer is T & Page =>
  typeof answer === 'object' && answer !== null && 'items' in answer && 'next' in answer;

/** Asks for page after page, and answers as if they were one. */
async function askPages<I extends z.ZodObject, O extends z.ZodType>(
  asker: Asker,
  endpoint: Endpoint<I, O>,
  fields: Fields,
  wanted: number,
): Promise<z.input<O>> {
  const answer = await asker.ask(endpoint, fields);
  if (!isPage(answer)) return answer;
  const items = [...answer.items];
  let { next } = answer;
  while (next !== null && items.length < wanted) {
    const size = Math.min(LONGEST_PAGE, wanted - items.length);
    const page = await asker.ask(endpoint, { ...fields, limit: size, after: next });
    if (!isPage(page)) break;
    items.push(...page.items);
    ({ next } = page);
  }
  return { ...answer, items, next };
}

interface Question<O extends z.ZodType> {
  /** The field of the input that its word is, and how the help names that: `['job', 'ID']`. */
  readonly word?: readonly [field: string, takes: string];
  readonly words?: readonly string[];
  /** Without it, that of the endpoint. */
  readonly summary?: string;
  /** Beside those that are fields of the input. */
  readonly options?: Command['options'];
  /** Other fields of the input, which no option gives; the word's as well. Throws a WrongUsage. */
  readonly fields?: (given: Given) => Fields;
  readonly without?: readonly string[];
  readonly print: (answer: z.input<O>) => string;
}

const BY = {
  value: 'NAME',
  doc: 'Who acts, as the rows and the audit name it; without it, your login here (over the API, the token)',
};

const LIMIT = { value: 'N', doc: 'How many, 30 unless said, 10000 at most' };

/** Only who changes something is noted, with why. */
const isAct = ({ method }: Endpoint): boolean => method !== 'GET';

/** Asks an endpoint, in the database or over the API. Its options are the input's fields. */
export function ask<I extends z.ZodObject, O extends z.ZodType>(
  name: string,
  endpoint: Endpoint<I, O>,
  { word, words = [], summary = endpoint.summary, options = {}, ...question }: Question<O>,
): Command {
  const { fields = () => ({}), without = [], print } = question;
  const ofInput = inputOptions(endpoint, [...without, ...(word === undefined ? [] : [word[0]])]);
  return {
    name,
    takes: word?.[1] ?? '',
    words: [...words, ...(word === undefined ? [] : valuesOf(endpoint, word[0]))],
    summary,
    options: { ...ofInput, ...options, ...(isAct(endpoint) && { by: BY }), json: JSON_OPTION },
    run(given) {
      const { by, json } = given.options;
      const asked: Fields = {
        ...given.options,
        ...(word !== undefined && { [word[0]]: given.words[0] }),
        ...fields(given),
      };
      const known = Object.entries(asked).filter(([field]) => field in endpoint.input.shape);
      const put = checked(endpoint, Object.fromEntries(known));
      const asker = openAsker(
        given.environment,
        // Of a question, `--by` is what a list is by.
        isAct(endpoint) && typeof by === 'string' ? by : undefined,
      );
      return resultOf(asker, async () => {
        const answer = await put(asker);
        return json === true ? `${JSON.stringify(answer)}\n` : print(answer);
      });
    },
  };
}

type Cell = string | number | null;

/** A field under its own name, or a head and what stands under it. */
type Column<T> = Plain<T> | readonly [head: string, cellOf: (item: T) => Cell];

type Plain<T> = { [K in keyof T & string]: T[K] extends Cell ? K : never }[keyof T & string];

export const table =
  <T>(given: readonly Column<T>[], nothing: string) =>
  ({ items, next = null }: { items: readonly T[]; next?: string | null }): string => {
    const all = given.map((column) =>
      typeof column === 'string'
        ? ([column.toUpperCase(), (item: T) => item[column] as Cell] as const)
        : column,
    );
    const heads = all.map(([head]) => head);
    const rows = items.map((item) => all.map(([, cellOf]) => cellOf(item)));
    return columns(heads, rows, nothing) + more(next);
  };

const schemaOf = ({ input }: Endpoint) =>
  z.toJSONSchema(input, { io: 'input' }).properties as Readonly<
    Record<string, z.core.JSONSchema.JSONSchema>
  >;

const valuesOf = (endpoint: Endpoint, field: string): readonly string[] =>
  (schemaOf(endpoint)[field]?.enum ?? []).map(String);

function inputOptions(endpoint: Endpoint, taken: readonly string[]): Record<string, Option> {
  const options = Object.entries(schemaOf(endpoint)).filter(([field]) => !taken.includes(field));
  return Object.fromEntries(
    options.map(([field, { type, description: doc = '', enum: values }]) => [
      field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
      field === 'limit'
        ? LIMIT
        : type === 'boolean'
          ? { doc }
          : {
              doc: values === undefined ? doc : `${doc} (${values.join(', ')})`.trim(),
              value: field.toUpperCase(),
              ...(values !== undefined && { values: values.map(String) }),
            },
    ]),
  );
}

/** How to ask this. Throws a WrongUsage if the endpoint cannot be asked so. */
function checked<I extends z.ZodObject, O extends z.ZodType>(
  endpoint: Endpoint<I, O>,
  fields: Fields,
): (asker: Asker) => Promise<z.input<O>> {
  const isPaged = isList(endpoint);
  const { limit: wanted } = orWrong(z.object({ limit }).safeParse(isPaged ? fields : {}));
  const toAsk = isPaged ? { ...fields, limit: Math.min(wanted, LONGEST_PAGE) } : fields;
  orWrong(endpoint.input.safeParse(toAsk));
  return (asker) =>
    isPaged ? askPages(asker, endpoint, toAsk, wanted) : asker.ask(endpoint, toAsk);
}

function orWrong<T>({ data, error }: { readonly data?: T; readonly error?: z.ZodError }): T {
  if (data === undefined)
    throw new WrongUsage(
      (error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`).join('\n'),
    );
  return data;
}

/** What `ask` resolves to as output, or why there was no answer. Closes the asker. */
export async function resultOf(asker: Asker, work: () => Promise<string>): Promise<CommandResult> {
  try {
    return { code: 0, stdout: await work(), stderr: '' };
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    return { code: 1, stdout: '', stderr: `${error.message}\n` };
  } finally {
    await asker.close();
  }
}
