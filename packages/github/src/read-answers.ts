import { describeIssues } from '@paddock/domain/deliveries/payload-fields';
import { z } from 'zod';
import { classifyGitHubError, UnusableAnswerError } from './errors.ts';

/**
 * What the schema names of an answer. Throws an UnusableAnswerError that says what is wrong:
 * something between us and GitHub may answer anything, and a field that is missing must not read as
 * “no” or “none”.
 */
export function readAnswer<T, H>(
  { data, headers, url }: { readonly data: unknown; readonly headers: H; readonly url: string },
  schema: z.ZodType<T>,
): { readonly data: T; readonly headers: H } {
  const read = schema.safeParse(data);
  if (read.success) return { data: read.data, headers };
  throw new UnusableAnswerError(describeIssues(read.error), url);
}

/** The object that was asked for, by its id, and no other. */
export const isThat = <T extends { readonly id: number }>(schema: z.ZodType<T>, id: number) =>
  schema.refine((one) => one.id === id, { path: ['id'], error: `it is not ${id}` });

/** How many items a list has, on all pages, where the server says so. */
export const totalCount = z.int().nonnegative().optional();

/** The paging facts of a list's page. */
export interface ListAnswer<T> {
  readonly items: readonly T[];
  readonly total?: number | undefined;
  /** The Link header, unchanged. */
  readonly link: string | undefined;
  /** Of this page; only `readPagesIfChanged` needs it. */
  readonly etag?: string | undefined;
}

export interface ReadingPages {
  /** The caller wants no items after this many. */
  readonly most?: number;
  /** The caller concludes nothing from an item that is missing. */
  readonly mayLack?: boolean;
}

/** GitHub's largest page, and the size that we ask for. */
export const PER_PAGE = 100;

/** Ten times what GitHub allows of anything that we list. */
const MOST_PAGES = 1_000;

/**
 * All items of a list, read page by page from page 1. Some proxies before an Enterprise Server
 * remove the Link header. Then the total decides whether there is more, and without a total a full
 * page does. A page without new items ends the list. An item that moves from one page to the next
 * meanwhile counts once. Throws an UnusableAnswerError if the list has no end, and if it has fewer
 * items than its total or than its Link header promises: that is no answer.
 */
export const readPages = async <T extends { readonly id: number }>(
  fetchPage: (page: number) => Promise<ListAnswer<T>>,
  reading: ReadingPages = {},
): Promise<T[]> => (await readAll(fetchPage, reading)).items;

async function readAll<T extends { readonly id: number }>(
  fetchPage: (page: number) => Promise<ListAnswer<T>>,
  { most = Infinity, mayLack = false }: ReadingPages,
): Promise<{ readonly items: T[]; readonly isLacking: boolean }> {
  const found = new Map<number, T>();
  for (let page = 1; page <= MOST_PAGES; page += 1) {
    const answer = await fetchPage(page);
    const before = found.size;
    for (const item of answer.items) found.set(item.id, item);
    if (found.size > before && found.size < most && hasMore(answer, found.size)) continue;
    const isLacking = lacks(answer, found.size, most);
    if (isLacking && !mayLack)
      throw new UnusableAnswerError(
        `GitHub listed ${found.size} of ${answer.total ?? 'more'} items: the list is not complete.`,
      );
    return { items: [...found.values()], isLacking };
  }
  throw new UnusableAnswerError(`GitHub's list goes on after ${MOST_PAGES} pages.`);
}

/** The result of reading a list again: unchanged on every page, or its present items. */
export type ListIfChanged<T> =
  | { readonly kind: 'unchanged' }
  /** `etags` of all pages, in order; none if the server did not give one for each. */
  | { readonly kind: 'changed'; readonly items: readonly T[]; readonly etags: readonly string[] };

/**
 * Reads a list unless no page of it has changed since `etags` were given; unchanged pages cost none
 * of the budget. When one has changed it reads all pages, because items move between pages.
 * `fetchPage` throws GitHub's 304 unchanged.
 */
export async function readPagesIfChanged<T extends { readonly id: number }>(
  fetchPage: (page: number, etag: string | undefined) => Promise<ListAnswer<T>>,
  { etags, ...reading }: ReadingPages & { readonly etags: readonly string[] },
): Promise<ListIfChanged<T>> {
  const changed = await findChangedPage(fetchPage, etags);
  if (changed === undefined && etags.length > 0) return { kind: 'unchanged' };
  const given: (string | undefined)[] = [];
  const { items, isLacking } = await readAll(async (page) => {
    const answer = page === changed?.page ? changed.answer : await fetchPage(page, undefined);
    given.push(answer.etag);
    return answer;
  }, reading);
  const known = given.filter((etag) => etag !== undefined);
  const isKnown = !isLacking && known.length === given.length;
  return { kind: 'changed', items, etags: isKnown ? known : [] };
}

async function findChangedPage<T>(
  fetchPage: (page: number, etag: string) => Promise<ListAnswer<T>>,
  etags: readonly string[],
): Promise<{ readonly page: number; readonly answer: ListAnswer<T> } | undefined> {
  for (const [index, etag] of etags.entries()) {
    const answer = await fetchPage(index + 1, etag).catch(unlessUnchanged);
    if (answer !== undefined) return { page: index + 1, answer };
  }
  return undefined;
}

/** Undefined for GitHub's 304; throws any other failure on. */
export function unlessUnchanged(error: unknown): undefined {
  if (classifyGitHubError(error).status !== 304) throw error;
}

/** The header of a conditional request. */
export const ifNoneMatch = (etag: string | undefined): { headers?: { 'if-none-match': string } } =>
  etag === undefined ? {} : { headers: { 'if-none-match': etag } };

/** Whether a list that came to its end has fewer items than GitHub says. */
const lacks = (answer: ListAnswer<unknown>, found: number, most: number): boolean =>
  answer.total === undefined
    ? answer.items.length === 0 && hasMore(answer, found)
    : found < Math.min(answer.total, most);

function hasMore({ items, total, link }: ListAnswer<unknown>, found: number): boolean {
  if (link !== undefined) return /;\s*rel="?next\b/.test(link);
  return total === undefined ? items.length >= PER_PAGE : found < total;
}
