import { quantileOf, toHundredths } from '../figures.ts';
import type { Page } from './pages.ts';

/** How long the answers of one page took over HTTP, in milliseconds. */
export interface MeasuredPage {
  readonly name: string;
  readonly p50_ms: number;
  readonly p95_ms: number;
  /** The most items of an answer. */
  readonly rows: number;
  /**
   * CPU time of the console and PostgreSQL for one answer: what else the machine does hardly changes
   * it. NaN without /proc.
   */
  readonly cpu_ms: number;
}

/** Resolves with the answer to GET. */
export type AskPage = (path: string) => Promise<Response>;

export interface Measuring {
  readonly ask: AskPage;
  /** How many questions each page gets. */
  readonly requests: number;
  /** How many of them at a time. */
  readonly clients: number;
  /** What the console and PostgreSQL have used so far. */
  readonly cpuSeconds: () => Promise<number>;
  readonly say: (line: string) => void;
}

/** The largest page of a list. */
const LIMIT = 100;
/** Before this, hardly any row is left. */
const LAST_DAYS = 'to=-360d';

/** Measures one page after the other. */
export async function measurePages(
  pages: readonly Page[],
  { ask, requests, clients, cpuSeconds, say }: Measuring,
): Promise<MeasuredPage[]> {
  const measured: MeasuredPage[] = [];
  for (const page of pages) {
    const each = Math.ceil(requests / clients);
    let asked = 0;
    const counted: AskPage = (path) => {
      asked += 1;
      return ask(path);
    };
    const before = await cpuSeconds();
    const asking = Array.from({ length: clients }, (_, client) =>
      askPage(page, counted, { first: client * each, count: each }),
    );
    const answers = (await Promise.all(asking)).flat();
    const cpu = (await cpuSeconds()) - before;
    const times = answers.map(({ ms }) => ms);
    const one = {
      name: page.name,
      p50_ms: toHundredths(quantileOf(times, 0.5)),
      p95_ms: toHundredths(quantileOf(times, 0.95)),
      rows: Math.max(...answers.map(({ rows }) => rows)),
      cpu_ms: toHundredths((cpu * 1_000) / asked),
    };
    const slowest = answers.toSorted((a, b) => b.ms - a.ms)[0];
    say(
      `${one.name}: ${one.p50_ms} ms, ${one.p95_ms} ms, ${one.rows} rows, ${one.cpu_ms} ms CPU; ${slowest?.path}`,
    );
    measured.push(one);
  }
  return measured;
}

interface Answered {
  readonly path: string;
  readonly ms: number;
  readonly rows: number;
  readonly next: string | null;
}

/**
 * Asks in turn for a first page, for the one behind it, and for one at the end of the list. The
 * first question is not counted: the connection and its catalogue are not at hand yet.
 */
async function askPage(
  page: Page,
  ask: AskPage,
  { first, count }: { first: number; count: number },
): Promise<Answered[]> {
  await get(ask, pathOf(page, first));
  const answers: Answered[] = [];
  for (let n = first; answers.length < count; n += 1) {
    const path = pathOf(page, n);
    const answered = await get(ask, path);
    answers.push(answered);
    if (answered.next !== null) answers.push(await get(ask, `${path}&after=${answered.next}`));
    const end = await findEnd(page, ask, path);
    if (end !== null) answers.push(await get(ask, `${path}&after=${end}`));
  }
  return answers.slice(0, count);
}

const pathOf = ({ path, isOne }: Page, n: number): string => {
  const asked = path(n);
  return isOne === true ? asked : `${asked}${asked.endsWith('?') ? '' : '&'}limit=${LIMIT}`;
};

/** Where a list of the year is at its end. Null: it is too short, or has dates already. */
async function findEnd(page: Page, ask: AskPage, path: string): Promise<string | null> {
  if (page.hasDates !== true || /[?&](?:from|to)=/.test(path)) return null;
  const { next } = await get(ask, `${path.replace(`limit=${LIMIT}`, 'limit=1')}&${LAST_DAYS}`);
  return next;
}

async function get(ask: AskPage, path: string): Promise<Answered> {
  const began = performance.now();
  const answer = await ask(path);
  const text = await answer.text();
  const ms = performance.now() - began;
  if (answer.status !== 200 && answer.status !== 404)
    throw new Error(`GET ${path} was answered with ${answer.status}: ${text.slice(0, 300)}`);
  const body = JSON.parse(text) as { items?: readonly unknown[]; next?: string | null };
  const next = typeof body.next === 'string' ? encodeURIComponent(body.next) : null;
  return { path, ms, rows: body.items?.length ?? Number(answer.status === 200), next };
}
