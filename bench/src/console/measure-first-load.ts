import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { medianOf, toHundredths } from '../figures.ts';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  (path) => existsSync(path),
);
const LOADS = 7;
const KILOBYTE = 1_024;

/** The page that the console serves at `url`, for whoever has this session. */
interface ServedPage {
  readonly url: string;
  readonly cookie: string;
}

/** All that the page needs to begin, in kilobytes as it travels. */
export async function measureSize({ url, cookie }: ServedPage): Promise<number> {
  const get = async (path: string): Promise<{ text: string; bytes: number }> => {
    const headers = { cookie, accept: 'text/html', 'accept-encoding': 'gzip' };
    const answer = await fetch(new URL(path, url), { headers });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`GET ${path} was answered with ${answer.status}`);
    const length = answer.headers.get('content-length');
    return { text, bytes: length === null ? Buffer.byteLength(text) : Number(length) };
  };
  const page = await get(url);
  const files = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path);
  let { bytes } = page;
  for (const path of new Set(files)) bytes += (await get(path)).bytes;
  return toHundredths(bytes / KILOBYTE);
}

/**
 * Milliseconds from an empty cache until the board has its rows: the median of several loads. Null:
 * there is no Chromium here.
 */
export async function measureFirstLoad({ url, cookie }: ServedPage): Promise<number | null> {
  if (CHROMIUM === undefined) return null;
  // The sandbox needs rights that a container may not have; the page is ours.
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  try {
    const times: number[] = [];
    const [name = '', value = ''] = cookie.split('=');
    for (let loads = 0; loads < LOADS; loads += 1) {
      const context = await browser.newContext();
      await context.addCookies([{ name, value, url }]);
      const page = await context.newPage();
      const began = performance.now();
      await page.goto(url);
      await page.locator('h1').waitFor();
      await page.locator('output').first().waitFor({ state: 'detached' });
      times.push(performance.now() - began);
      await context.close();
    }
    return toHundredths(medianOf(times));
  } finally {
    await browser.close();
  }
}
