import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from '@jest/globals';
import { late } from '@paddock/testing/late';
import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  (path) => existsSync(path),
);

/** Tests in a browser: skipped by their names where there is none. */
export const describeInBrowser = CHROMIUM === undefined ? describe.skip : describe;

/** One browser for the tests of a file. */
export function useBrowser(): Browser {
  let browser: Browser;
  if (CHROMIUM !== undefined) {
    beforeAll(async () => {
      // The sandbox needs rights that a container may not have; the pages are ours.
      browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
    });
    afterAll(() => browser.close());
  }
  return late(() => browser);
}

/** What went wrong in a page: errors, and what its policy refused. */
export function troublesOf(page: Page): readonly string[] {
  const troubles: string[] = [];
  page.on('pageerror', (error) => troubles.push(error.message));
  page.on('console', (message) => {
    // A 404 of the API is an answer.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      troubles.push(message.text());
  });
  return troubles;
}

/** Waits until the view has its answers. */
export async function settled(page: Page): Promise<void> {
  await page.locator('h1').waitFor();
  await page.locator('output.none').first().waitFor({ state: 'detached' });
  // Charts are drawn by what is fetched with the first of them.
  await page.locator('.chart .drawn:empty').first().waitFor({ state: 'detached' });
}

/** Goes to another address as a link does, without loading the page again. */
export async function show(page: Page, path: string): Promise<void> {
  await page.evaluate(
    `new Promise((drawn) => {
      history.pushState(null, '', ${JSON.stringify(path)});
      dispatchEvent(new PopStateEvent('popstate'));
      scrollTo(0, 0);
      requestAnimationFrame(() => requestAnimationFrame(drawn));
    })`,
  );
  await settled(page);
}

/** Enters a text where the focus is, and sends it. */
export async function type(page: Page, text: string): Promise<void> {
  await page.keyboard.insertText(text);
  await page.keyboard.press('Enter');
}

/** Presses Tab until the element has the focus. */
export async function tabTo(page: Page, selector: string): Promise<void> {
  const wanted = page.locator(selector).first();
  await wanted.waitFor();
  for (let presses = 0; presses < 150; presses += 1) {
    if ((await wanted.and(page.locator(':focus')).count()) > 0) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not lead to ${selector}`);
}

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string | null;
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
  }[];
}

/** Brings axe-core by the debugging protocol, which no policy of the page hinders. */
export const bringJudge = (page: Page): Promise<unknown> => page.evaluate(axe.source);

const RULES = { all: '', colours: ", runOnly: ['color-contrast']" } as const;

/** What axe-core calls serious or critical, by its rule, with the elements. */
export async function seriousFlaws(page: Page, which: keyof typeof RULES): Promise<string[]> {
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run({ resultTypes: ['violations']${RULES[which]} })`,
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
    );
}

const FOLDER = join(import.meta.dirname, '..', '..', 'screenshots');

/** Keeps a picture of the whole page for people to look at; git ignores the folder. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  await page.screenshot({ path: join(FOLDER, `${name}.png`), fullPage: true });
}

export type { BrowserContext, Page } from 'playwright-core';
