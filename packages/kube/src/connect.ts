import {
  Agent as HttpAgent,
  request as requestHttp,
  type IncomingMessage,
  type OutgoingHttpHeaders,
} from 'node:http';
import { Agent as HttpsAgent, request as requestHttps, type RequestOptions } from 'node:https';
import { type HttpMethod, KubeConfig } from '@kubernetes/client-node';
import { asRecord } from '@paddock/domain/pools/as-record';
import { ConfigError } from '@paddock/runtime/config-error';
import { KubeError } from './errors.ts';
import { readKubeconfig } from './kubeconfig.ts';

export interface ClusterRequest {
  readonly method: HttpMethod;
  /** Path below the server's address, with the query. */
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
}

/** A connection to one cluster: its address, credentials and open sockets. */
export interface Cluster {
  readonly server: string;
  readonly requestTimeoutMs: number;
  /** Sends one request. Resolves with the head of the answer, for any status. */
  send(request: ClusterRequest): Promise<IncomingMessage>;
  close(): void;
}

/**
 * Reads the configuration and prepares calls. It sends nothing. The library reads every kind of
 * kubeconfig, renews tokens (files, exec plugins, OIDC), and writes most requests (`coreApi`). We
 * send them, because the library opens a connection for each and sets no time limit. Each thing
 * that it does badly is a test in client-node.test.ts. Throws ConfigError if the file cannot be
 * read or names no cluster.
 */
export function connectCluster({
  kubeconfigFile,
  requestTimeoutMs,
}: {
  /** A kubeconfig file, instead of the pod's service account. */
  readonly kubeconfigFile?: string | undefined;
  /** The longest wait for a whole answer, or for the beginning of a watch. */
  readonly requestTimeoutMs: number;
}): Cluster {
  let config = kubeconfigFile === undefined ? inCluster() : readKubeconfig(kubeconfigFile);
  const current = config.getCurrentCluster();
  // Outside a cluster, the library builds an address from variables that are not set.
  if (!current || !URL.canParse(current.server))
    throw new ConfigError([
      kubeconfigFile === undefined
        ? 'no kubeconfig file is named (PADDOCK_KUBECONFIG), and this process does not run in a pod: KUBERNETES_SERVICE_HOST and _PORT are not set'
        : `the current context of the kubeconfig file ${kubeconfigFile} has no cluster with a URL as its server`,
    ]);
  const server = current.server.replace(/\/+$/, '');
  // Without TLS there is nothing to verify, and the library wants to be told so.
  if (!server.startsWith('https:')) Object.assign(current, { skipTLSVerify: true });
  const agents = keepAgents(server.startsWith('https:'));
  const credentialsFor = shareCredentials(() => readCredentials(config, server), server);
  return {
    server,
    requestTimeoutMs,
    async send(request) {
      const credentials = await credentialsFor(request.signal);
      credentials.agent = agents.agentFor(credentials, current.proxyUrl === undefined);
      const answer = await sendOnce(server, request, credentials);
      if (answer.statusCode === 401) config = withoutTokens(config);
      return answer;
    },
    close: agents.close,
  };
}

/** The library keeps a program's token that names no end, even if the server refuses it. */
function withoutTokens(config: KubeConfig): KubeConfig {
  const anew = new KubeConfig();
  anew.loadFromOptions(config);
  return anew;
}

/**
 * Calls at one time share a reading, since it may start a program. Throws KubeError `timeout` once
 * the signal aborts, which the library does not know: a program may hang. The next call reads anew.
 */
function shareCredentials(read: () => Promise<RequestOptions>, server: string) {
  let reading: Promise<RequestOptions> | undefined;
  return async (signal: AbortSignal): Promise<RequestOptions> => {
    reading ??= read().finally(() => (reading = undefined));
    const message = `The credentials for ${server} did not come in time: does the program hang that the kubeconfig names?`;
    const late = new Promise<never>((_given, fail) => {
      const end = () => fail(new KubeError({ kind: 'timeout', message }));
      signal.addEventListener('abort', end, { once: true });
    });
    try {
      return { ...(await Promise.race([reading, late])) };
    } catch (error) {
      reading = undefined;
      throw error;
    }
  };
}

/**
 * Reads the credentials from files or a plugin. Throws KubeError `unauthorized` if that fails, or
 * if there are none: we would be anonymous.
 */
async function readCredentials(config: KubeConfig, server: string): Promise<RequestOptions> {
  const credentials: RequestOptions = { headers: {} };
  try {
    await config.applyToHTTPSOptions(credentials);
    const { headers, auth, cert } = credentials;
    const isTold = /^\S+ +\S/.test(String(asRecord(headers)['Authorization']));
    if (!isTold && auth === undefined && cert === undefined)
      throw new Error('there are none in the file or from the program that the kubeconfig names');
  } catch (error) {
    const of = `The credentials for ${server} could not be read`;
    // A parser's message quotes what may be a token.
    if (error instanceof SyntaxError)
      throw new KubeError({ kind: 'unauthorized', message: `${of}: they are no JSON` });
    const why = error instanceof Error ? error.message : String(error);
    throw new KubeError({ kind: 'unauthorized', message: `${of}: ${why}` }, { cause: error });
  }
  // A token's file may end with a newline, which a header must not contain.
  const headers = Object.entries(credentials.headers ?? {}).map(([name, value]) => [
    name,
    String(value).trim(),
  ]);
  return { ...credentials, headers: Object.fromEntries(headers) };
}

function inCluster(): KubeConfig {
  const config = new KubeConfig();
  config.loadFromCluster();
  return config;
}

/**
 * Keeps sockets open between requests. Makes a new agent if certificates change on disk. The
 * library's agent goes through a proxy, but keeps the certificates of its first use: it gets today's.
 */
function keepAgents(secure: boolean) {
  // Probes after 30 s find a dead peer, and stay under the idle limits of cloud load balancers.
  const settings = { keepAlive: true, keepAliveMsecs: 30_000 };
  let agent: HttpAgent | undefined;
  let madeFor = '';
  return {
    agentFor(
      { ca, cert, key, rejectUnauthorized = true, servername, agent: proxying }: RequestOptions,
      isDirect: boolean,
    ): HttpAgent {
      const name = servername === undefined ? {} : { servername };
      const tls = { ca, cert, key, rejectUnauthorized, ...name };
      if (!isDirect && proxying instanceof HttpAgent) {
        agent = proxying;
        if (proxying instanceof HttpsAgent) Object.assign(proxying.options, tls);
        return proxying;
      }
      const material = JSON.stringify(Object.values(tls).map(String));
      if (agent === undefined || material !== madeFor) {
        // To destroy the old agent would break running calls. The server closes its idle sockets.
        agent = secure ? new HttpsAgent({ ...settings, ...tls }) : new HttpAgent(settings);
        madeFor = material;
      }
      return agent;
    },
    close: () => agent?.destroy(),
  };
}

async function sendOnce(
  server: string,
  request: ClusterRequest,
  credentials: RequestOptions,
): Promise<IncomingMessage> {
  const url = new URL(server + request.path);
  const options: RequestOptions = {
    ...credentials,
    method: request.method,
    headers: {
      'user-agent': 'paddock',
      ...(credentials.headers as OutgoingHttpHeaders),
      ...request.headers,
    },
    signal: request.signal,
  };
  return new Promise((answered, failed) => {
    const outgoing =
      url.protocol === 'https:' ? requestHttps(url, options) : requestHttp(url, options);
    outgoing.once('response', answered);
    outgoing.once('error', (error: NodeJS.ErrnoException) => {
      // The server closed a kept socket at the moment of its reuse. All our calls may be repeated.
      if (outgoing.reusedSocket && error.code === 'ECONNRESET' && !request.signal.aborted) {
        answered(sendOnce(server, request, credentials));
      } else failed(error);
    });
    outgoing.end(request.body);
  });
}
