import type { Answer, Call } from './route.ts';

/** The items of the requested page, with GitHub's Link header to the other pages. */
export function pageOf<T>(
  call: Call,
  items: readonly T[],
): { readonly items: readonly T[]; readonly headers: Answer['headers'] & object } {
  const perPage = perPageOf(call);
  const page = Math.max(Number(call.query.get('page') ?? 1) || 1, 1);
  const last = Math.max(Math.ceil(items.length / perPage), 1);
  const links = [
    ...(page > 1 ? [link(call, { page: page - 1 }, 'prev')] : []),
    ...(page < last
      ? [link(call, { page: page + 1 }, 'next'), link(call, { page: last }, 'last')]
      : []),
    ...(page > 1 ? [link(call, { page: 1 }, 'first')] : []),
  ];
  return {
    items: items.slice((page - 1) * perPage, page * perPage),
    headers: links.length === 0 ? {} : { link: links.join(', ') },
  };
}

export function perPageOf({ query }: Call): number {
  return Math.min(Math.max(Number(query.get('per_page') ?? 30) || 30, 1), 100);
}

/** One entry of a Link header: the requested address with some of its query replaced. */
export function link(
  { world, path, query }: Call,
  changes: Readonly<Record<string, string | number>>,
  relation: string,
): string {
  const changed = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) changed.set(name, String(value));
  return `<${world.url}${path}?${changed.toString()}>; rel="${relation}"`;
}
