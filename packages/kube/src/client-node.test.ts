import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import {
  CoreV1Api,
  createConfiguration,
  KubeConfig,
  Log,
  type RequestContext,
  ServerConfiguration,
  V1Container,
  V1ObjectMeta,
  type V1PodSpec,
  Watch,
  wrapHttpLibrary,
} from '@kubernetes/client-node';
import { describe, expect, test } from '@jest/globals';
import { useHttpServer } from '@paddock/testing/use-http-server';

/** If a newer version fails one of these, the code that the test names may go. */
describe('@kubernetes/client-node 2.0.1', () => {
  let answer: (...message: Parameters<RequestListener>) => unknown;
  const http = useHttpServer((request, response) => void answer(request, response));

  const configOf = (user: object = { token: 'token' }, skipTLSVerify = true) => {
    const config = new KubeConfig();
    config.loadFromOptions({
      clusters: [{ name: 'c', server: http.url, skipTLSVerify }],
      users: [{ name: 'u', ...user }],
      contexts: [{ name: 'c', cluster: 'c', user: 'u' }],
      currentContext: 'c',
    });
    return config;
  };
  const coreOf = () => configOf().makeApiClient(CoreV1Api);
  const answerJson = (body: object, status = 200) => {
    answer = (_request, response) =>
      void response
        .writeHead(status, { 'content-type': 'application/json' })
        .end(JSON.stringify(body));
  };
  const pod = { namespace: 'runners', name: 'pdk-1' };
  const watchAll = async () => {
    const seen: string[] = [];
    const ended = Promise.withResolvers<unknown>();
    const watch = new Watch(configOf());
    await watch.watch('/api/v1/pods', {}, (type) => seen.push(type), ended.resolve);
    return { seen, error: await ended.promise };
  };
  const gone = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };

  describe('sends requests (connect.ts and call.ts do)', () => {
    test('on a connection each', async () => {
      answerJson({});
      let connections = 0;
      http.server.on('connection', () => connections++);
      const core = coreOf();
      for (let i = 0; i < 3; i++) await core.readNamespacedPod(pod);
      expect(connections).toBe(3);
    });

    test('without a time limit', async () => {
      let sent: RequestContext | undefined;
      const httpApi = wrapHttpLibrary({
        send: async (request) => {
          sent = request;
          return Promise.reject(new Error('not sent'));
        },
      });
      const baseServer = new ServerConfiguration(http.url, {});
      const core = new CoreV1Api(createConfiguration({ baseServer, httpApi }));
      await expect(core.readNamespacedPod(pod)).rejects.toThrow('not sent');
      expect(sent?.getSignal()).toBeUndefined();
    });

    test('and again to where a redirect leads, with a Secret’s content', async () => {
      const sent: string[] = [];
      answer = async (request, response) => {
        for await (const chunk of request) sent.push(`${request.url}: ${String(chunk)}`);
        if (request.url === '/elsewhere')
          response.writeHead(201, { 'content-type': 'application/json' }).end('{}');
        else response.writeHead(307, { location: '/elsewhere' }).end();
      };
      const body = { stringData: { a: 'hidden' } };
      await coreOf().createNamespacedSecret({ namespace: 'runners', body });
      expect(sent).toContain('/elsewhere: {"stringData":{"a":"hidden"}}');
    });
  });

  describe('reads a configuration (connect.ts and kubeconfig.ts mend it)', () => {
    test('and leaves the newline at the end of a token’s file', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'paddock-token-'));
      const tokenFile = join(folder, 'token');
      writeFileSync(tokenFile, 'secret\n');
      const options = { headers: {} };
      const authProvider = { name: 'tokenFile', config: { tokenFile } };
      await configOf({ authProvider }).applyToHTTPSOptions(options);
      expect(options.headers).toEqual({ Authorization: 'Bearer secret\n' });
      rmSync(folder, { recursive: true });
    });

    test('and drops fields that say who we are (readKubeconfig reads or refuses them)', () => {
      const config = new KubeConfig();
      const user = { tokenFile: 'a', as: 'robot', 'as-groups': ['g'], 'as-uid': '1' };
      config.loadFromString(JSON.stringify({ users: [{ name: 'u', user }] }));
      const read = Object.entries(config.getUser('u') ?? {}).filter(([, value]) => value);
      expect(Object.fromEntries(read)).toEqual({ name: 'u', impersonateUser: 'robot' });
    });

    test('and refuses plain HTTP, unless certificates are not to be checked', async () => {
      const asked = configOf({}, false).applyToHTTPSOptions({ headers: {} });
      await expect(asked).rejects.toThrow('HTTP protocol is not allowed');
    });
  });

  test('drops the fields of a new pod that it does not know (createPod keeps them)', async () => {
    let body = '';
    answer = async (request, response) => {
      for await (const chunk of request) body += String(chunk);
      response.writeHead(201, { 'content-type': 'application/json' }).end(body);
    };
    const spec = { containers: [{ name: 'runner' }], fieldOfTomorrow: 1 } as V1PodSpec;
    await coreOf().createNamespacedPod({ namespace: 'runners', body: { spec } });
    expect(JSON.parse(body)).toEqual({ spec: { containers: [{ name: 'runner' }] } });
  });

  test('reads what is no pod as one, or ends in an error of JavaScript (findPod checks by a schema)', async () => {
    answerJson({ kind: 'Status', status: 'Failure' });
    expect(await coreOf().readNamespacedPod(pod)).toMatchObject({ kind: 'Status' });
    answerJson({ kind: 'Pod', status: { containerStatuses: 1 } });
    await expect(coreOf().readNamespacedPod(pod)).rejects.toThrow(TypeError);
  });

  test('builds an object for each part of each listed pod (listPods reads JSON)', async () => {
    answerJson({ items: [{ metadata: {}, spec: { containers: [{ name: 'runner' }] } }] });
    const { items } = await coreOf().listNamespacedPod({ namespace: 'runners' });
    expect(items[0]?.metadata).toBeInstanceOf(V1ObjectMeta);
    expect(items[0]?.spec?.containers[0]).toBeInstanceOf(V1Container);
  });

  describe('watches (podChanges does)', () => {
    test('and leaves out a line that it cannot read, without an error', async () => {
      answer = (_request, response) =>
        void response.end('{"type":"ADDED"\n{"type":"BOOKMARK","object":{}}\n');
      expect(await watchAll()).toEqual({ seen: ['BOOKMARK'], error: null });
    });

    test('and drops the answer of an error', async () => {
      answerJson(gone, 410);
      const { error } = await watchAll();
      expect(error).toMatchObject({ message: 'Gone', statusCode: 410 });
      expect(Object.keys(error as object)).toEqual(['statusCode']);
    });

    test('and breaks off after 30 s without a change: bookmarks come once a minute', () => {
      expect(new Watch(configOf())).toHaveProperty('requestTimeoutMs', 30_000);
    });
  });

  describe('reads a whole log (readWholeLog does)', () => {
    test('as one text, of any length', async () => {
      answer = (_request, response) =>
        void response.writeHead(200, { 'content-type': 'text/plain' }).end('one\ntwo\n');
      expect(await coreOf().readNamespacedPodLog(pod)).toBe('one\ntwo\n');
    });

    test('as a stream, but drops the answer of an error', async () => {
      answerJson(gone, 410);
      const read = new Log(configOf()).log('runners', 'pdk-1', 'runner', new PassThrough());
      await expect(read).rejects.toMatchObject({ code: 410, body: undefined });
    });
  });
});
