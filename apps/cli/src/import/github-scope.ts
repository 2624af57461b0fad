import { apiUrlOf } from '@paddock/github/create-app';

/** Where the old runners register. */
export interface GitHubScope {
  readonly apiUrl: string;
  readonly login?: string;
  readonly repository?: string;
  readonly enterprise?: string;
}

/** What an address such as https://github.com/acme/shop means; undefined for any other. */
export function githubScope(address: string): GitHubScope | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, pathname } = new URL(address);
  const [first, second, ...more] = pathname.split('/').filter((part) => part !== '');
  const isName = [first, second ?? 'x'].every((part) => part !== undefined && NAME.test(part));
  if (!/^https?:$/.test(protocol) || first === undefined || more.length > 0 || !isName)
    return undefined;
  const apiUrl = apiUrlOf(new URL(address));
  if (first.toLowerCase() === 'enterprises' && second !== undefined)
    return { apiUrl, enterprise: second };
  return { apiUrl, login: first, ...(second === undefined ? {} : { repository: second }) };
}

const NAME = /^[\w.-]+$/;
