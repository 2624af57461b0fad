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
  path: pathname.startsWith(BASE) ? `/${pathname.slice(BASE.length)}`.replace(/(.)\/$/, '$1') : '/',
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

/** How far down the entry of the history was, for who comes back to it. */
const keepHeight = (): void => history.replaceState({ y: scrollY }, '');

/** Goes down as far as before, once the answers have made the view as high. */
function findHeight(): void {
  const { y = 0 } = (history.state ?? {}) as { readonly y?: number };
  const grown = new ResizeObserver(() => {
    scrollTo(0, y);
    if (scrollY >= y - 1) end();
  });
  const end = () => grown.disconnect();
  grown.observe(document.body);
  // A person who scrolls meanwhile knows better; and what was there may be gone.
  for (const by of ['wheel', 'touchstart', 'keydown']) addEventListener(by, end, { once: true });
  setTimeout(end, LONGEST_ANSWER_MS);
}

const LONGEST_ANSWER_MS = 5_000;

export function followPlace(): void {
  look();
  history.scrollRestoration = 'manual';
  findHeight();
  addEventListener('scrollend', keepHeight);
  addEventListener('popstate', () => {
    look();
    findHeight();
  });
  addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (link === null || !isOurs(link, event)) return;
    event.preventDefault();
    keepHeight();
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
