import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv4 } from 'node:net';
import type { AccessOf, Identity } from '@paddock/api/sessions/sessions';
import type { SignInFile } from './sign-in-file.ts';

const MOST_GROUPS = 500;
const LONGEST = 200;

/** Letters of any language, and what stands in addresses; nothing that hides or turns a text. */
const NAME = /^[\p{L}\p{M}\p{N}\p{P}\p{S}]+( [\p{L}\p{M}\p{N}\p{P}\p{S}]+)*$/u;

/**
 * Somebody of this name, as another system says. Undefined: the name cannot stand in the list of
 * actions. `person` keeps people and tokens apart there.
 */
export function identityOf(name: unknown, groups: readonly unknown[]): Identity | undefined {
  if (typeof name !== 'string' || name.length > LONGEST || !NAME.test(name)) return undefined;
  return {
    person: `person ${name}`,
    groups: groups
      .filter((group) => typeof group === 'string')
      .filter((group) => group.length <= LONGEST)
      .slice(0, MOST_GROUPS),
  };
}

const EVERYBODY = '*';

export const createAccessOf =
  ({ read, operate }: SignInFile['groups']): AccessOf =>
  (groups) => {
    if (groups.some((group) => operate.includes(group))) return 'operate';
    const mayRead = read.includes(EVERYBODY) || groups.some((group) => read.includes(group));
    return mayRead ? 'read' : undefined;
  };

/** Reads the person that a trusted proxy names. Undefined: it names none, or the peer is not trusted. */
export type ProxiedIdentity = (
  request: Pick<IncomingMessage, 'headers' | 'socket'>,
) => Identity | undefined;

/** Reads the headers of the proxies that are believed. Without `proxy` there are none. */
export function createProxiedIdentity(proxy: SignInFile['proxy']): ProxiedIdentity {
  if (proxy === undefined) return () => undefined;
  const peers = toPeers(proxy.peers);
  return ({ headers, socket: { remoteAddress = '' } }) => {
    if (isIP(remoteAddress) === 0 || !peers.check(remoteAddress, familyOf(remoteAddress)))
      return undefined;
    const groups = textOf(headers, proxy.groupsHeader);
    return identityOf(
      textOf(headers, proxy.nameHeader),
      groups.split(groups.includes('|') ? '|' : ',').map((group) => group.trim()),
    );
  };
}

/** From addresses and networks, as `10.0.8.5` and `fd00::/8`. */
function toPeers(given: readonly string[]): BlockList {
  const peers = new BlockList();
  for (const peer of given) {
    const [address = '', bits] = peer.split('/');
    const family = familyOf(address);
    if (bits === undefined) peers.addAddress(address, family);
    else peers.addSubnet(address, Number(bits), family);
  }
  return peers;
}

const familyOf = (address: string) => (isIPv4(address) ? 'ipv4' : 'ipv6');

/** Node reads each byte of a header as a letter of Latin-1; proxies write UTF-8. */
function textOf(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? Buffer.from(value, 'latin1').toString('utf8') : '';
}
