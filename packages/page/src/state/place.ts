import { signal } from '@preact/signals';
import { hrefOf, pathOf } from './base.ts';

export interface Place {
  /** Below the console’s root, as `/jobs/7`. */
  readonly path: string;
  readonly query: URLSearchParams;
}

const placeOf = ({ pathname, search }: Pick<Location, 'pathname' | 'search'>): Place => ({
  path: pathOf(pathname),
  query: new URLSearchParams(search),
});

/** What is shown: the address bar always says the same. */
export const place = signal<Place>({ path: '/', query: new URLSearchParams() });

/** Goes to a path of the page, as `/jobs?state=waiting`. */
export function go(path: string, how: 'push' | 'replace' = 'push'): void {
  history[how === 'push' ? 'pushState' : 'replaceState'](null, '', hrefOf(path));
  place.value = placeOf(location);
}

/** Follows the address bar, and links of the page. */
export function followPlace(): void {
  place.value = placeOf(location);
  addEventListener('popstate', () => {
    place.value = placeOf(location);
  });
  addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (link === null || !isOurs(link, event)) return;
    event.preventDefault();
    const { path, query } = placeOf(link);
    go(path + (query.size === 0 ? '' : `?${query.toString()}`));
    scrollTo(0, 0);
  });
}

/** Whether to follow it without loading the page again. */
const isOurs = (link: HTMLAnchorElement, event: MouseEvent): boolean =>
  !event.defaultPrevented &&
  event.button === 0 &&
  !event.ctrlKey &&
  !event.metaKey &&
  !event.shiftKey &&
  !event.altKey &&
  link.target === '' &&
  !link.download &&
  link.origin === location.origin &&
  link.hash === '' &&
  link.href.startsWith(location.origin + hrefOf('/')) &&
  !link.pathname.endsWith('.json') &&
  !link.pathname.startsWith(hrefOf('/api/'));
