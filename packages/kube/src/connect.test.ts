import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '@paddock/runtime/config-error';
import { afterAll, describe, expect, test } from '@jest/globals';
import { connectCluster, type ConnectOptions } from './connect.ts';

const folder = mkdtempSync(join(tmpdir(), 'paddock-connect-'));
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, content: string): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
}

const kubeconfig = (server: string) =>
  JSON.stringify({
    clusters: [{ name: 'c', cluster: { server } }],
    users: [],
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'here',
  });

const empty = write(
  'empty',
  JSON.stringify({ clusters: [], users: [], contexts: [], 'current-context': '' }),
);

describe('a missing configuration of the cluster is reported as a configuration problem (H1)', () => {
  test.each<[string, Partial<ConnectOptions>, string]>([
    [
      'no file, outside a cluster',
      { inCluster: true },
      'no kubeconfig file is named (PADDOCK_KUBECONFIG)',
    ],
    [
      'a file that is missing',
      { kubeconfigFile: join(folder, 'absent') },
      `${join(folder, 'absent')} cannot be read: ENOENT`,
    ],
    [
      'an unknown context',
      { kubeconfigFile: empty, context: 'prod' },
      `in ${empty} has no context named prod`,
    ],
    ['no current context', { kubeconfigFile: empty }, `in ${empty} names no current cluster`],
    [
      'an address that is none',
      { kubeconfigFile: write('odd', kubeconfig('https://:x')) },
      '"https://:x" as its cluster\'s address',
    ],
  ])('%s', (_what, options, sentence) => {
    const connect = () => connectCluster({ ...options, requestTimeoutMs: 1 });
    expect(connect).toThrow(ConfigError);
    expect(connect).toThrow(sentence);
  });

  test('a file that is none is not quoted: a token may be in it', () => {
    const kubeconfigFile = write('broken', 'users: [{ token: hidden');
    const connect = () => connectCluster({ kubeconfigFile, requestTimeoutMs: 1 });
    expect(connect).toThrow('does not have the form of a kubeconfig');
    expect(connect).not.toThrow('hidden');
  });
});
