import { createHmac, randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { examplePayload } from '@paddock/testing/signed-delivery';
import { fc } from '@paddock/testing/random-cases';
import { APP, SECRET } from './ingress.scene.ts';

/** One request as it goes over the wire, and whether its signature is right. */
export interface HostileRequest {
  readonly guid: string;
  readonly isSigned: boolean;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
}

/** A worker that these requests may name, of the entity of most examples. */
export const WORKER = 'pdk-fuzzed-all-1';
export const OWNER = 38302899;

const require = createRequire(import.meta.url);
const published = require('@octokit/webhooks-examples') as readonly {
  readonly name: string;
  readonly examples: readonly object[];
}[];
const HANDLED = new Set(['workflow_job', 'installation', 'installation_repositories', 'ping']);
const examples = published
  .filter(({ name }) => HANDLED.has(name))
  .flatMap(({ name, examples: of }) => of.map((example) => ({ name, example })));

/** The places of the fields that we read, in the payloads of the handled events. */
const PATHS = `
  action workflow_job repository installation organization organization.id sender sender.id entity target_type
  workflow_job.id workflow_job.run_id workflow_job.run_attempt workflow_job.name workflow_job.workflow_name workflow_job.html_url
  workflow_job.labels workflow_job.labels.0 workflow_job.conclusion workflow_job.runner_name workflow_job.runner_id workflow_job.status
  workflow_job.steps workflow_job.created_at workflow_job.started_at workflow_job.completed_at
  repository.id repository.full_name repository.private repository.owner repository.owner.id repository.owner.login repository.owner.type
  installation.id installation.account installation.account.id installation.account.login installation.account.type
  installation.repository_selection installation.suspended_at installation.updated_at
`
  .trim()
  .split(/\s+/);

const words = (text: string) => fc.constantFrom(...text.trim().split(/\s+/));

/** JSON text, because many hostile bodies have no JavaScript value. */
const strangeJson = fc.oneof(
  words('null true "" [] {} 0 -1 -0 0.5 1e400 -1e999999 1e-400 9007199254740992 9007199254740993'),
  words(
    String.raw`123456789012345678901234567890.000000000000000001 "\u0000" "\ud800" "\udc00\ud800"`,
  ),
  words('"2026-13-45T99:99:99Z" "-271821-04-20T00:00:00Z" "queued" "waiting" "constructor"'),
  words(`{"__proto__":{"id":1}} {"constructor":1} [null] [[]] "${WORKER}"`),
  fc.constantFrom(
    `"${'x'.repeat(70_000)}"`,
    `[${'"label",'.repeat(5_000)}"label"]`,
    JSON.stringify(
      Array.from({ length: 100 }, (_, index) => createHmac('sha512', String(index)).digest('hex')),
    ),
    `${'['.repeat(400)}${']'.repeat(400)}`,
    `${'{"a":'.repeat(2_000)}1${'}'.repeat(2_000)}`,
  ),
  fc.json(),
);

const payloadText = fc
  .tuple(
    fc.constantFrom(...examples),
    fc.array(fc.tuple(fc.constantFrom(...PATHS), strangeJson), { maxLength: 3 }),
  )
  .map(([{ name, example }, changes]) => {
    let text = JSON.stringify(example);
    for (const [path, value] of changes) text = replaceAt(text, path, value);
    return { event: name, text };
  });

/** `value` is JSON text, taken as it is; where the path does not lead anywhere nothing changes. */
function replaceAt(json: string, path: string, value: string): string {
  const mark = '\u0001here\u0001';
  const root: unknown = JSON.parse(json);
  const names = path.split('.');
  const last = names.pop() ?? '';
  let at = root;
  for (const name of names)
    at = typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[name] : undefined;
  if (typeof at !== 'object' || at === null) return json;
  (at as Record<string, unknown>)[last] = mark;
  return JSON.stringify(root).replace(JSON.stringify(mark), () => value);
}

const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array));
const encoded = (encoding: BufferEncoding) =>
  payloadText.map(({ event, text }) => ({ event, bytes: Buffer.from(text, encoding) }));
const ping = (sent: Buffer) => ({ event: 'ping', bytes: sent });
const body = fc.oneof(
  { weight: 6, arbitrary: encoded('utf8') },
  { weight: 1, arbitrary: encoded('latin1') },
  { weight: 1, arbitrary: encoded('utf16le') },
  {
    weight: 1,
    arbitrary: fc.tuple(payloadText, fc.nat()).map(([{ event, text }, cut]) => ({
      event,
      bytes: Buffer.from(text).subarray(0, cut % text.length),
    })),
  },
  { weight: 1, arbitrary: bytes.map(ping) },
  // Valid JSON in which a text holds bytes that are no UTF-8.
  {
    weight: 1,
    arbitrary: bytes.map((array) => {
      const high = Buffer.from(array.filter((byte) => byte >= 128));
      return ping(Buffer.concat([Buffer.from('{"zen":"'), high, Buffer.from('"}')]));
    }),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(
        '['.repeat(300_000),
        `{"a":${'1'.repeat(200_000)}}`,
        `{"a":[${'{},'.repeat(100_000)}0]}`,
        '\ufeff{}',
      )
      .map((text) => ({ event: 'push', bytes: Buffer.from(text) })),
  },
);

const [LONG_EVENT, LONG_HEADER] = ['x'.repeat(200), 'a'.repeat(5_000)];
const oddEvent = fc.oneof(
  words(`workflow_job push Ping constructor __proto__ ${LONG_EVENT}`),
  fc.constantFrom('', 'ping '),
);
const oddHeader = fc.tuple(
  words(`content-type content-encoding x-github-event x-github-delivery x-hub-signature
    x-hub-signature-256 x-github-hook-installation-target-id x-forwarded-for cookie expect`),
  fc.oneof(
    words('gzip application/x-www-form-urlencoded 100-continue nonsense 7 -7 sha256= \u00e9'),
    fc.constantFrom('', '7, 8', `sha256=${'0'.repeat(64)}`, LONG_HEADER),
  ),
);

/** A request with the headers that GitHub sends; an unsigned one has another key's signature. */
const requestOf = (
  guid: string,
  event: string,
  sent: Buffer,
  isSigned: boolean,
): HostileRequest => {
  const key = isSigned ? SECRET : `${SECRET}?`;
  const headers: [string, string][] = [
    ['x-github-event', event],
    ['x-github-delivery', guid],
    ['x-github-hook-installation-target-id', String(APP)],
    ['x-hub-signature-256', `sha256=${createHmac('sha256', key).update(sent).digest('hex')}`],
  ];
  return { guid, isSigned, headers, body: sent };
};

/** A job that a pool serves, as GitHub sends it. */
export function intactJob(isSigned: boolean): HostileRequest {
  const payload = examplePayload('workflow_job', 'queued', {
    workflow_job: { id: 800, labels: ['self-hosted'] },
    repository: { private: true, owner: { id: OWNER, login: 'acme', type: 'Organization' } },
  });
  const sent = Buffer.from(JSON.stringify(payload));
  return requestOf(randomUUID(), 'workflow_job', sent, isSigned);
}

/**
 * Deliveries that GitHub would never send, each with a new GUID; about half of them are rightly
 * signed.
 */
export const hostileRequest: fc.Arbitrary<HostileRequest> = fc
  .tuple(
    fc.uuid(),
    body,
    fc.boolean(),
    fc.option(oddEvent, { freq: 5 }),
    fc.array(oddHeader, { maxLength: 2 }),
    fc.boolean(),
  )
  .map(([guid, { event, bytes: sent }, isSigned, otherEvent, more, isDefiled]) => {
    const request = requestOf(guid, otherEvent ?? event, sent, isSigned);
    return isDefiled ? Object.assign(request, { headers: [...request.headers, ...more] }) : request;
  });
