import { afterEach, expect, jest, test } from '@jest/globals';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type RequestListener } from 'node:http';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { callJson } from './call.ts';
import { type Cluster, connectCluster } from './connect.ts';
import { classifyKubeError } from './errors.ts';
import { useFolder } from '@paddock/testing/use-folder';
import { useHttpServer } from '@paddock/testing/use-http-server';
import { waitFor } from '@paddock/testing/wait-for';
import { kubeconfigWriter } from './scenes/simulated-cluster.scene.ts';

const folder = useFolder();
const write = kubeconfigWriter(folder);

/** Answers as whom it was asked. */
const echo: RequestListener = ({ headers }, response) =>
  void response.end(JSON.stringify([headers.authorization, headers['impersonate-user']]));

/** What a program says that has no credential. */
const NO_TOKEN = '{"kind":"ExecCredential","status":{}}';

let answer: RequestListener;
const server = useHttpServer((request, response) => answer(request, response));
const clusters: Cluster[] = [];

afterEach(() => {
  for (const cluster of clusters.splice(0)) cluster.close();
});

const call = async (by: Cluster) => callJson(by, { method: 'GET', path: '/api/v1/pods' });
const failure = async (by: Cluster) => call(by).then(() => undefined, classifyKubeError);

// Without TLS there is nothing to verify, so that no flag is needed.
const plain = { 'insecure-skip-tls-verify': undefined };
function connectAs(user: object): Cluster {
  const kubeconfigFile = write('of-user', server.url, { user, cluster: plain });
  const cluster = connectCluster({ kubeconfigFile, requestTimeoutMs: 120_000 });
  clusters.push(cluster);
  return cluster;
}

test('a token is read from a file beside the kubeconfig, and again after a minute; it may be made in another user’s name (H1)', async () => {
  answer = echo;
  const as = connectAs({ tokenFile: 'token', token: 'older', as: 'robot' });
  writeFileSync(join(folder, 'token'), 'first\n');
  expect(await call(as)).toEqual(['Bearer first', 'robot']);
  writeFileSync(join(folder, 'token'), 'second\n');
  jest.useFakeTimers({ now: Date.now() + 61_000, advanceTimers: true });
  expect(await call(as).finally(() => jest.useRealTimers())).toEqual(['Bearer second', 'robot']);
});

test('a program’s token without an end serves until it is refused, as for kubectl (H1)', async () => {
  answer = ({ headers: { authorization } }, response) =>
    void response.writeHead(authorization === 'Bearer old' ? 401 : 200).end(`"${authorization}"`);
  const said = join(folder, 'said.json');
  const says = (token: string) => writeFileSync(said, JSON.stringify({ status: { token } }));
  const as = connectAs({ exec: { command: 'cat', args: [said] } });
  for (const token of ['young', 'other']) {
    says(token);
    expect(await call(as)).toBe('Bearer young');
  }
  const refused = connectAs({ exec: { command: 'cat', args: [said] } });
  says('old');
  expect(await failure(refused)).toMatchObject({ kind: 'unauthorized', status: 401 });
  says('new');
  expect(await call(refused)).toBe('Bearer new');
});

test.each<[string, object, string]>([
  ['a program that is not there', { exec: { command: './no-such' } }, 'no-such ENOENT'],
  ['a program without a credential', { exec: { command: 'echo', args: [NO_TOKEN] } }, 'none in'],
  ['a program that says no JSON', { exec: { command: 'echo', args: ['hidden'] } }, 'no JSON'],
  ['an empty file', { tokenFile: 'empty-token' }, 'none in'],
  ['a provider without a token', { 'auth-provider': { name: 'oidc' } }, 'none in'],
])('with %s, no call is made: it would be anonymous (H1)', async (_what, user, why) => {
  answer = echo;
  writeFileSync(join(folder, 'empty-token'), '\n');
  const as = connectAs(user);
  const error = await call(as).catch((thrown: unknown) => thrown);
  expect(inspect(error)).toMatch(`credentials for ${server.url} could not be read: `);
  expect(inspect(error)).toContain(why);
  expect(inspect(error)).not.toContain('hidden');
  expect(classifyKubeError(error)).toMatchObject({ kind: 'unauthorized' });
});

test('with a program that hangs, calls end in time and say so, and do not start it once each (C9)', async () => {
  answer = echo;
  const started = join(folder, 'started');
  const args = ['-c', `echo once >> ${started}; exec sleep 2`];
  const as = connectAs({ exec: { command: 'sh', args } });
  const hastily = { ...as, requestTimeoutMs: 500 };
  for (const failed of await Promise.all([failure(hastily), failure(hastily)]))
    expect(failed).toMatchObject({
      kind: 'timeout',
      message: expect.stringMatching('credentials'),
    });
  await waitFor('the program', () => existsSync(started));
  expect(readFileSync(started, 'utf8')).toBe('once\n');
});
