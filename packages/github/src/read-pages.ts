/** What a list's page is read from. */
export interface ListAnswer<T> {
  readonly items: readonly T[];
  /** How many items the whole list has, where GitHub says so. */
  readonly total?: number | undefined;
  /** The Link header as it came. */
  readonly link: string | undefined;
}

export interface ReadingPages {
  /** Later items are not asked for. */
  readonly most?: number;
}

/** The most that GitHub puts into a page, and what is asked for. */
export const PER_PAGE = 100;

/**
 * All items of a list that is read page by page, counted from 1. Some servers before an Enterprise Server take the Link header away: without
 * it, the total tells whether there is more, and without that a full page does. A page without anything new ends the list, whatever was
 * promised. An item that moves from one page to the next meanwhile counts once.
 */
export async function readPages<T extends { readonly id: number }>(
  fetchPage: (page: number) => Promise<ListAnswer<T>>,
  { most = Infinity }: ReadingPages = {},
): Promise<T[]> {
  const found = new Map<number, T>();
  for (let page = 1; ; page += 1) {
    const answer = await fetchPage(page);
    const before = found.size;
    for (const item of answer.items) found.set(item.id, item);
    if (found.size === before || found.size >= most || !hasMore(answer, found.size)) return [...found.values()];
  }
}

function hasMore({ items, total, link }: ListAnswer<unknown>, found: number): boolean {
  if (link !== undefined) return /;\s*rel="?next\b/.test(link);
  return total === undefined ? items.length >= PER_PAGE : found < total;
}
