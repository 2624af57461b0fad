import { API, ENDPOINTS } from '@paddock/api/endpoints';
import type { Db } from '@paddock/db/schema/tables';
import type { Postgres } from '@paddock/embedded-postgres/start-postgres';
import { startConsole } from '@paddock/testing/processes';
import { say, quantileOf, toHundredths } from '../bench.ts';
import type { Given } from './active.ts';

const of = (list: string, ...filters: readonly string[]): string[] =>
  filters.map((filter) => `${list}?limit=100${filter === '' ? '' : '&'}${filter}`);

/**
 * The questions of people, each endpoint's at least once: the lists with what is common, rare and
 * missing in them.
 */
export function questionsOf({
  jobIds: [waiting],
  podNames: [living],
  endedNames: [ended],
  guid,
  operation,
}: Given): string[] {
  const places = ['', 'entity=entity-1', 'pool=pool-3', 'pool=(none)', 'from=-200d&to=-190d'];
  const lists = ['repositories', 'redeliveries', 'installations', 'switches', 'sweeps', 'actions'];
  return [
    ...of('jobs', ...places, 'repository=entity%2Frepository-77', 'conclusion=timed_out'),
    ...of('jobs', 'entity=entity-1&pool=pool-0&state=ended', 'to=-364d', 'state=running'),
    ...of('jobs', 'state=waiting', 'reason=at_pool_cap', 'state=waiting&entity=entity-1'),
    ...of('jobs', 'pool=pool-3&conclusion=timed_out', 'entity=entity-1&conclusion=timed_out'),
    ...of('jobs', 'repository=entity%2Frepository-77&workflow=Nightly&conclusion=failure'),
    ...of('jobs', 'entity=entity-1&state=ended&from=-200d&to=-190d'),
    ...of(
      'workers',
      ...places,
      'state=failed',
      'state=stopping',
      'state=failed&pool=pool-3',
      'node=node-7',
      'node=none',
    ),
    ...of('workers', 'entity=entity-1&pool=pool-0&state=failed&from=-200d&to=-190d'),
    ...['repository', 'workflow', 'pool', 'entity'].flatMap((by) =>
      of('usage', `by=${by}`, `by=${by}&from=-31d`, `by=${by}&from=-31d&entity=entity-1`),
    ),
    ...of('usage', 'by=hour&from=-7d', 'by=day&from=-30d', 'by=hour&from=-24h&pool=pool-3'),
    ...['24h', '7d', '31d&entity=entity-1'].map((since) => `compare?since=${since}`),
    ...['entity', 'pool', 'labels', 'reason'].map((by) => `active?by=${by}`),
    ...of('redeliveries', 'state=given-up', 'code=502'),
    ...of('trace/entity/entity-1', '', 'kind=event', 'from=-200d&to=-190d'),
    ...of('trace/installation/2', ''),
    ...of(`trace/job/${waiting}`, ''),
    ...of('operations', `subject=worker:${ended}`, `subject=worker:${ended}&detail=true`),
    ...of('operations', '', 'status=OK&kind=provision-worker', 'status=ERROR&reason=attempts'),
    ...of('operations', 'status=ERROR&handled=false', 'status=ERROR&kind=provision-worker'),
    ...[...lists, 'tokens', 'sessions'].flatMap((list) => of(list, '')),
    `jobs/${waiting}/why`,
    'jobs/77/why',
    'runs/19/why?owner=entity-1',
    'jobs/77',
    `workers/${living}`,
    `workers/${ended}`,
    `deliveries/${guid}`,
    `operations/${operation}`,
    'repositories/entity/repository-77',
    'trace/payload/77',
    'diagnoses?of=entity-1',
    'diagnoses',
    'findings',
    'diagnoses?pool=pool-3',
    'installations/1',
    'find?text=77',
    `find?text=${guid}`,
    'find?text=Entity-7',
    'pools',
    'pools/pool-3',
    'nodes',
    'pools?minutes=true',
    'operations/counts?from=-31d',
    'openapi.json',
  ];
}

/** Answers a question on these rows, as the terminal does. Returns the endpoint's name. */
export async function answerQuestion(db: Db, question: string): Promise<string> {
  const { pathname, searchParams } = new URL(question, 'http://console/api/v1/');
  const [found] = READING.flatMap(({ endpoint, path }) => {
    const fields = path.exec(pathname);
    return fields === null ? [] : [{ endpoint, fields: fields.groups }];
  });
  if (found === undefined) throw new Error(`No endpoint answers ${question}.`);
  const { endpoint, fields } = found;
  const input = endpoint.input.parse({ ...fields, ...Object.fromEntries(searchParams) });
  await endpoint.answer({ db, person: 'bench', from: 'terminal' }, input);
  return endpoint.name;
}

/** The endpoints that only read; those with fewer fields in their path come first. */
export const READING = ENDPOINTS.filter(({ method }) => method === 'GET')
  .map((endpoint) => ({
    endpoint,
    path: new RegExp(`^${endpoint.path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
  }))
  .toSorted((a, b) => a.endpoint.path.split('{').length - b.endpoint.path.split('{').length);

const QUESTIONS = 20;

/**
 * How long the console, a process with its own rights only, takes to answer each question over
 * HTTP, in milliseconds.
 */
export async function measurePages(
  { postgres, schema, db }: { postgres: Postgres; schema: string; db: Db },
  given: Given,
) {
  const { token } = await API.createToken.answer(
    { db, person: 'bench', from: 'terminal' },
    API.createToken.input.parse({ name: 'bench', access: 'operate' }),
  );
  const { at, stop } = await startConsole(postgres.url(), schema);
  const timeOf = async (path: string): Promise<number> => {
    const headers = { authorization: `Bearer ${token}` };
    const began = performance.now();
    const answer = await fetch(`${at}/api/v1/${path}`, { headers });
    const text = await answer.text();
    const took = performance.now() - began;
    if (answer.status !== 200)
      throw new Error(`GET ${path} was answered with ${answer.status}: ${text.slice(0, 300)}`);
    return took;
  };
  const pages: { path: string; p50_ms: number | null; p95_ms: number | null }[] = [];
  try {
    for (const path of questionsOf(given)) {
      // The first question is not counted: its connection may have no catalogue at hand yet.
      await timeOf(path);
      const times: number[] = [];
      for (let asked = 0; asked < QUESTIONS; asked++) times.push(await timeOf(path));
      const p50 = toHundredths(quantileOf(times, 0.5));
      const p95 = toHundredths(quantileOf(times, 0.95));
      say(`${path}: ${p50} ms, ${p95} ms`);
      pages.push({ path, p50_ms: p50, p95_ms: p95 });
    }
    return pages;
  } finally {
    await stop();
  }
}
