import { BlockList, isIPv6 } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { deployedManifests } from '@paddock/testing/cluster-rights';

interface Peer {
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
  readonly namespaceSelector?: object;
}

interface Spec {
  readonly podSelector: object;
  readonly policyTypes: readonly string[];
  readonly ingress: readonly object[];
  readonly egress: readonly { readonly to: readonly Peer[]; readonly ports?: readonly object[] }[];
}

const FILE = 'runner-network-policy.yaml';

const specOf = async (): Promise<Spec> => {
  const [manifest] = (await deployedManifests(FILE)) as unknown as { spec: Spec }[];
  if (manifest === undefined) throw new Error(`${FILE} is empty.`);
  return manifest.spec;
};

/**
 * Whether one of the policy's blocks lets a packet out to the address, as Kubernetes says that
 * blocks are read.
 */
function isOpen({ egress }: Spec, address: string): boolean {
  const has = (cidrs: readonly string[]): boolean => {
    const list = new BlockList();
    const type = isIPv6(address) ? 'ipv6' : 'ipv4';
    for (const cidr of cidrs) {
      const [net = '', bits] = cidr.split('/');
      if (isIPv6(net) === isIPv6(address)) list.addSubnet(net, Number(bits), type);
    }
    return list.check(address, type);
  };
  const blocks = egress.flatMap(({ to }) => to).flatMap(({ ipBlock }) => ipBlock ?? []);
  return blocks.some(({ cidr, except = [] }) => has([cidr]) && !has(except));
}

describe('the network policy of runners in deploy/kubernetes (H3)', () => {
  test.each([
    ['GitHub', '140.82.112.3', true],
    ['GitHub, by IPv6', '2606:50c0:8000::154', true],
    ['GitHub, by NAT64', '64:ff9b::8c52:7003', true],
    ['a pod', '10.244.1.7', false],
    ['PostgreSQL on a private address', '192.168.7.5', false],
    ['a pod of a carrier-grade range', '100.64.3.4', false],
    ['a pod, by IPv6', 'fd12:3456::7', false],
    ['a pod, by NAT64', '64:ff9b::af4:107', false],
    ['the metadata address', '169.254.169.254', false],
    ['that of Alibaba', '100.100.100.200', false],
    ['the wire server of Azure', '168.63.129.16', false],
    ['the metadata address, by NAT64', '64:ff9b::a9fe:a9fe', false],
    ['a neighbour on the link', 'fe80::1', false],
  ])('%s (%s) is reached: %s', async (_what, address, expected) => {
    expect(isOpen(await specOf(), address)).toBe(expected);
  });

  test('covers all pods of the namespace, lets no traffic in, and names only the cluster’s DNS as a way out', async () => {
    const { podSelector, policyTypes, ingress, egress } = await specOf();
    expect([podSelector, policyTypes, ingress]).toEqual([{}, ['Ingress', 'Egress'], []]);
    const inside = egress.filter(({ to }) =>
      to.some((peer) => peer.namespaceSelector !== undefined),
    );
    // The second is OpenShift's.
    expect(inside.map(({ ports }) => ports)).toEqual(
      [53, 5353].map((port) => ['UDP', 'TCP'].map((protocol) => ({ protocol, port }))),
    );
  });
});
