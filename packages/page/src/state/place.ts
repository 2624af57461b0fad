import { signal } from '@preact/signals';

/** The path of the console’s root, with its last slash: this script is in the folder `assets` there. */
const BASE = new URL('..', import.meta.url).pathname;

/** The address of a path of the page or the API, as `/jobs/7`. */
export const hrefOf = (path: string): string => BASE + path.slice(1);

export interface Place {
  /** Below the console’s root, as `/jobs/7`. */
  readonly path: string;
  readonly query: URLSearchParams;
}

const placeOf = ({ pathname, search }: Pick<Location, 'pathname' | 'search'>): Place => ({
  path: pathname.startsWith(BASE) ? `/${pathname.slice(BASE.length)}` : '/',
  query: new URLSearchParams(search),
});

/** What is shown: the address bar always says the same. */
export const place = signal<Place>({ path: '/', query: new URLSearchParams() });

const look = (): void => void (place.value = placeOf(location));

/** Goes to a path of the page, as `/jobs?state=waiting`. */
export function go(path: string, how: 'pushState' | 'replaceState' = 'pushState'): void {
  history[how](null, '', hrefOf(path));
  look();
}

/** Follows the address bar, and links of the page. */
export function followPlace(): void {
  look();
  addEventListener('popstate', look);
  addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (link === null || !isOurs(link, event)) return;
    event.preventDefault();
    history.pushState(null, '', link.href);
    look();
    scrollTo(0, 0);
  });
}

/** Whether to follow it without loading the page again. */
const isOurs = (link: HTMLAnchorElement, event: MouseEvent): boolean =>
  !event.defaultPrevented &&
  event.button === 0 &&
  !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) &&
  link.target === '' &&
  !link.download &&
  link.hash === '' &&
  link.href.startsWith(location.origin + BASE) &&
  !link.pathname.endsWith('.json') &&
  !link.pathname.startsWith(hrefOf('/api/'));
