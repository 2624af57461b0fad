import { Link } from './link.tsx';

/** To the next page of a list, and back to its first one. */
export function Pager({
  path,
  query,
  next,
}: {
  path: string;
  query: URLSearchParams;
  next: string | null;
}) {
  const first = new URLSearchParams(query);
  first.delete('after');
  const following = new URLSearchParams(first);
  if (next !== null) following.set('after', next);
  if (next === null && !query.has('after')) return null;
  return (
    <nav class="pager" aria-label="Pages">
      {query.has('after') && <Link to={`${path}?${first.toString()}`}>First page</Link>}
      {next !== null && <Link to={`${path}?${following.toString()}`}>Next page</Link>}
    </nav>
  );
}
