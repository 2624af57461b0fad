import type { Endpoint } from '@paddock/api/endpoint';
import { fromDigits } from '@paddock/api/lists/whole';
import { z } from 'zod';
import type { Asker, Fields } from './asker.ts';

/** Most items that the API answers at once. */
const LONGEST_PAGE = 100;

/** `--limit` of a list: as many pages as it takes. */
const limit = fromDigits(z.number().int().min(1).max(10_000)).default(30);

export const isList = ({ input }: Endpoint): boolean =>
  'limit' in input.shape && 'after' in input.shape;

/** The fields as the endpoint takes them for its first page, and how many items are wanted in all. */
export const firstPage = (fields: Fields) =>
  z
    .looseObject({ limit })
    .transform((given) => ({
      wanted: given.limit,
      fields: { ...given, limit: Math.min(given.limit, LONGEST_PAGE) },
    }))
    .safeParse(fields, { reportInput: true });

interface Page {
  readonly items: readonly unknown[];
  readonly next: string | null;
}

const isPage = <T>(answer: T): answer is T & Page =>
  typeof answer === 'object' && answer !== null && 'items' in answer && 'next' in answer;

/** Asks for page after page, and answers as if they were one. */
export async function askPages<I extends z.ZodObject, O extends z.ZodType>(
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
