import { Agent as HttpAgent, request as requestHttp, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps, type RequestOptions } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import { ConfigError } from '@paddock/runtime/config-error';
import { isRecord, KubeError, type KubeFailure } from './errors.ts';
import { createReachability, type ReachabilityEvents } from './reachability.ts';

export interface ConnectOptions {
  /** A file of kubectl's form; without it the default places are read, as kubectl does. */
  readonly kubeconfigFile?: string | undefined;
  /** A context of that file other than its current one. */
  readonly context?: string | undefined;
  /** The pod's own service account instead of a file. */
  readonly inCluster?: boolean | undefined;
  /** An address to be used instead of the configuration's. */
  readonly server?: string | undefined;
  /** The longest wait for a whole answer; of a watch, for its beginning. */
  readonly requestTimeoutMs: number;
  readonly events?: ReachabilityEvents | undefined;
}

export interface ClusterRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below the server's address, with the query. */
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
}

/** A connection to one cluster: its address, credentials and open sockets. */
export interface Cluster {
  readonly server: string;
  readonly requestTimeoutMs: number;
  /** Sends one request and resolves with the head of the answer, whatever its status. */
  send(request: ClusterRequest): Promise<IncomingMessage>;
  /** Told of each call's end: its failure, or none. */
  readonly noteCall?: ((failure?: KubeFailure) => void) | undefined;
  close(): void;
}

/**
 * Reads the configuration and prepares calls; nothing is sent yet. The library reads every kind of kubeconfig and keeps tokens fresh
 * (files, exec plugins, OIDC). Sending is our own: the library's generated calls make a new agent, and so a new TLS connection, for each
 * request; they have no time limit; and its Watch swallows lines that it cannot parse and drops the body of an error answer.
 * Throws ConfigError when the file cannot be read, or no cluster is named there or around us.
 */
export function connectCluster(options: ConnectOptions): Cluster {
  const config = loadConfig(options);
  const current = config.getCurrentCluster();
  if (!current) throw new ConfigError([`the Kubernetes configuration${inFile(options)} names no current cluster: set its current-context`]);
  if (!URL.canParse(current.server)) throw new ConfigError([withoutAddress(options, current.server)]);
  const server = current.server.replace(/\/+$/, '');
  const agents = keepAgents(server.startsWith('https:'));
  /** The library's own, which goes through the proxy; it keeps one. */
  let proxying: RequestOptions['agent'];
  return {
    server,
    requestTimeoutMs: options.requestTimeoutMs,
    noteCall: options.events && createReachability(options.events),
    async send(request) {
      const credentials = await readCredentials(config, server);
      if (current.proxyUrl === undefined) credentials.agent = agents.agentFor(credentials);
      else proxying = credentials.agent;
      return sendOnce(server, request, credentials);
    },
    close: () => {
      agents.close();
      if (typeof proxying === 'object') proxying.destroy();
    },
  };
}

/** Reads whatever the configuration refers to: files, a plugin's answer. Throws KubeError `unauthorized` when that fails. */
async function readCredentials(config: KubeConfig, server: string): Promise<RequestOptions> {
  const credentials: RequestOptions = { headers: {} };
  try {
    await config.applyToHTTPSOptions(credentials);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new KubeError({ kind: 'unauthorized', message: `The credentials for ${server} could not be read: ${why}` }, { cause: error });
  }
  // A token's file may end with a newline, which no header may hold.
  const headers = Object.entries(credentials.headers ?? {}).map(([name, value]) => [name, String(value).trim()]);
  return { ...credentials, headers: Object.fromEntries(headers) };
}

function loadConfig({ kubeconfigFile, context, inCluster, server }: ConnectOptions): KubeConfig {
  const config = new KubeConfig();
  if (inCluster === true) config.loadFromCluster();
  else if (kubeconfigFile === undefined) config.loadFromDefault();
  else loadFile(config, kubeconfigFile);
  if (context !== undefined) {
    if (!config.getContextObject(context)) {
      throw new ConfigError([`the Kubernetes configuration${inFile({ kubeconfigFile })} has no context named ${context}`]);
    }
    config.setCurrentContext(context);
  }
  const current = config.getCurrentCluster();
  if (!current) return config;
  const address = server ?? current.server;
  // The library refuses plain HTTP unless told that TLS need not be verified; there is none to verify.
  const skipTLSVerify = current.skipTLSVerify || address.startsWith('http:');
  const clusters = config.clusters.map((cluster) => (cluster === current ? { ...cluster, server: address, skipTLSVerify } : cluster));
  config.loadFromOptions({ clusters, users: config.users, contexts: config.contexts, currentContext: config.currentContext });
  return config;
}

function loadFile(config: KubeConfig, file: string): void {
  try {
    config.loadFromFile(file);
  } catch (error) {
    // A parser's message quotes the text, in which there may be a token.
    const isOfFile = isRecord(error) && 'syscall' in error;
    const why = isOfFile ? String(error['message']) : 'it does not have the form of a kubeconfig';
    throw new ConfigError([`the kubeconfig file ${file} cannot be read: ${why}`]);
  }
}

/** Outside a cluster the library builds an address of variables that are not there. */
const withoutAddress = (options: ConnectOptions, server: string): string =>
  options.inCluster === true
    ? 'no kubeconfig file is named (PADDOCK_KUBECONFIG), and this process does not run in a pod: KUBERNETES_SERVICE_HOST and _PORT are not set'
    : `the Kubernetes configuration${inFile(options)} names ${JSON.stringify(server)} as its cluster's address, which is no URL`;

/** Keeps sockets open between requests, and makes a new agent when the client certificate or the CA was replaced on disk. */
function keepAgents(secure: boolean): { agentFor(credentials: RequestOptions): HttpAgent; close(): void } {
  // Keep-alive probes after 30 s find a peer that is gone without a word, under the idle limits of cloud load balancers.
  const settings = { keepAlive: true, keepAliveMsecs: 30_000 };
  let agent: HttpAgent | undefined;
  let madeFor = '';
  return {
    agentFor({ ca, cert, key, rejectUnauthorized, servername }) {
      const material = JSON.stringify([ca, cert, key, rejectUnauthorized, servername].map(String));
      if (agent === undefined || material !== madeFor) {
        // The old agent is not destroyed, for that would break the calls under way; the server closes its idle sockets.
        const tls = { ca, cert, key, rejectUnauthorized: rejectUnauthorized ?? true, ...(servername === undefined ? {} : { servername }) };
        agent = secure ? new HttpsAgent({ ...settings, ...tls }) : new HttpAgent(settings);
        madeFor = material;
      }
      return agent;
    },
    close: () => agent?.destroy(),
  };
}

async function sendOnce(server: string, request: ClusterRequest, credentials: RequestOptions): Promise<IncomingMessage> {
  const url = new URL(server + request.path);
  const options: RequestOptions = {
    ...credentials,
    method: request.method,
    headers: { 'user-agent': 'paddock', ...(credentials.headers as OutgoingHttpHeaders), ...request.headers },
    signal: request.signal,
  };
  return new Promise((answered, failed) => {
    const outgoing = url.protocol === 'https:' ? requestHttps(url, options) : requestHttp(url, options);
    outgoing.once('response', answered);
    outgoing.once('error', (error: NodeJS.ErrnoException) => {
      // The server closed a kept socket just as it was taken again. All our calls may be repeated, so one on a fresh socket follows.
      if (outgoing.reusedSocket && error.code === 'ECONNRESET' && !request.signal.aborted) {
        answered(sendOnce(server, request, credentials));
      } else failed(error);
    });
    outgoing.end(request.body);
  });
}

const inFile = ({ kubeconfigFile }: Pick<ConnectOptions, 'kubeconfigFile'>): string =>
  kubeconfigFile === undefined ? '' : ` in ${kubeconfigFile}`;
