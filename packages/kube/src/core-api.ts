import {
  CoreV1Api,
  createConfiguration,
  type RequestContext,
  ResponseContext,
  SelfDecodingBody,
  ServerConfiguration,
  wrapHttpLibrary,
} from '@kubernetes/client-node';
import { isRecord } from '@paddock/domain/pools/as-record';
import { type Call, callJson, callText } from './call.ts';
import type { Cluster } from './connect.ts';
import { KubeError } from './errors.ts';

/**
 * An API object as its JSON, where instants are strings, or as the library's calls read it.
 */
export type WireJson<T> = T extends Date
  ? string | Date
  : T extends object
    ? { [K in keyof T]: WireJson<T[K]> }
    : T;

/** The library writes whole addresses. Ours is the cluster's. */
const ANY_SERVER = 'http://cluster';

/** Asks for an answer without the content: that of a Secret must not enter this process again. */
export const METADATA_ONLY =
  'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';

/** Its answer is text. All others are JSON. */
const LOG = /\/pods\/[^/]+\/log$/;

/**
 * The library's calls of the core API. It writes the request and reads the answer, and we send
 * (docs/adr/0012). Each call throws as `callJson` does. The library drops fields that it does not
 * know, in requests too.
 */
export function coreApi(
  cluster: Cluster,
  options: Pick<Call, 'accept' | 'contentType' | 'secretBody' | 'signal'> = {},
): CoreV1Api {
  const send = async (request: RequestContext): Promise<ResponseContext> => {
    const { Accept: accept, 'Content-Type': contentType } = request.getHeaders();
    const [path = '', query] = request.getUrl().slice(ANY_SERVER.length).split('?');
    const call = {
      method: request.getHttpMethod(),
      path,
      query: Object.fromEntries(new URLSearchParams(query)),
      body: request.getBody(),
      accept,
      contentType,
      ...options,
    };
    const isText = LOG.test(path);
    const text = isText
      ? await callText(cluster, call)
      : JSON.stringify(checkKind(await callJson(cluster, call)));
    const headers = { 'content-type': isText ? 'text/plain' : 'application/json' };
    const body = new SelfDecodingBody(Promise.resolve(Buffer.from(text)));
    return new ResponseContext(200, headers, body);
  };
  const baseServer = new ServerConfiguration(ANY_SERVER, {});
  return new CoreV1Api(createConfiguration({ baseServer, httpApi: wrapHttpLibrary({ send }) }));
}

/** The library would read any JSON, such as that of a proxy, as the object that it expects. */
function checkKind(answer: unknown): unknown {
  if (isRecord(answer) && typeof answer['kind'] === 'string') return answer;
  const message = 'The answer to a call of the core API is no object of Kubernetes.';
  throw new KubeError({ kind: 'unavailable', message });
}
