import { alignColumns } from '../figures.ts';
import type { MeasuredPage } from './measure-pages.ts';

export interface MeasuredConsole {
  readonly pages: readonly MeasuredPage[];
  /** Null: there is no Chromium. */
  readonly first_load_ms: number | null;
  readonly gzip_kb: number;
  /** How many questions were asked at a time. */
  readonly clients: number;
  /** Of the machine, over a minute: what else it did. */
  readonly load_average: { readonly before: number; readonly after: number };
}

const MOST_MS = 100;
const MOST_FIRST_LOAD_MS = 1_000;
const MOST_KB = 60;

export const isTooMuch = ({ pages, first_load_ms: firstLoad, gzip_kb: size }: MeasuredConsole) =>
  pages.some(isSlow) || (firstLoad ?? 0) >= MOST_FIRST_LOAD_MS || size > MOST_KB;

const isSlow = ({ p95_ms: p95 }: MeasuredPage): boolean => p95 >= MOST_MS;

export function tableOf(measured: MeasuredConsole): string {
  const { pages, first_load_ms: firstLoad, gzip_kb: size, clients, load_average: load } = measured;
  return alignColumns([
    ['page', 'p50 ms', 'p95 ms', 'CPU ms', 'rows', ''],
    ...pages.map((page) => [
      page.name,
      page.p50_ms.toFixed(1),
      page.p95_ms.toFixed(1),
      page.cpu_ms.toFixed(1),
      String(page.rows),
      isSlow(page) ? 'slow' : '',
    ]),
    ['first load', firstLoad === null ? 'no Chromium' : `${firstLoad} ms`],
    ['page, gzip', `${size} KB`],
    ['clients', String(clients)],
    ['load average', `${load.before} – ${load.after}`],
  ]);
}
