/** The path of the console’s root, with its last slash: this script is in the folder `assets` there. */
const BASE = new URL('..', import.meta.url).pathname;

/** The address of a path of the page or the API, as `/jobs/7`. */
export const hrefOf = (path: string): string => BASE + path.slice(1);

/** The path below the console’s root, as `/jobs/7`. */
export const pathOf = (pathname: string): string =>
  pathname.startsWith(BASE) ? `/${pathname.slice(BASE.length)}` : '/';
