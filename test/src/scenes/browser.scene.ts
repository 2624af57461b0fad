import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from '@jest/globals';
import { CHROMIUM } from '@paddock/testing/chromium';
import { late } from '@paddock/testing/use-test-database';
import axe from 'axe-core';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';

/** Tests in a browser: skipped by their names where there is none. */
export const describeInBrowser = CHROMIUM === undefined ? describe.skip : describe;

/** One browser for the tests of a file. */
export function useBrowser(): Browser {
  let browser: Browser;
  const executablePath = CHROMIUM;
  if (executablePath !== undefined) {
    beforeAll(async () => {
      // The sandbox needs rights that a container may not have; the pages are ours.
      browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
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

/** Gives an element the focus by Tab, or by Shift and Tab if it lies before. */
export async function reach(page: Page, wanted: Locator): Promise<void> {
  const element = wanted.first();
  await element.waitFor();
  // A row may come or go meanwhile, and the browser may stop at more than this counts.
  for (let tries = 0; tries < 20; tries += 1) {
    await page.evaluate(COUNT_PRESSES);
    const presses = await element.evaluate((to) => (globalThis as unknown as Keys).pressesTo(to));
    if (presses === 0) return;
    for (let n = Math.abs(presses); n > 0; n -= 1)
      await page.keyboard.press(presses < 0 ? 'Shift+Tab' : 'Tab');
  }
  throw new Error(`Tab does not lead to ${wanted.toString()}`);
}

interface Keys {
  /** How often to press Tab; below 0: with Shift. */
  pressesTo(element: object): number;
}

const COUNT_PRESSES = `globalThis.pressesTo ??= (to) => {
  const from = document.activeElement;
  if (from === to) return 0;
  const root = document.querySelector('dialog[open]') ?? document;
  const stops = 'a[href], button, input, select, summary, [tabindex="0"]';
  const all = [...root.querySelectorAll(stops)].filter((one) => !one.disabled && one.checkVisibility());
  const isBefore = (one) => (one.compareDocumentPosition(from) & 4) !== 0;
  const at = all.indexOf(from);
  const presses = all.indexOf(to) - (at < 0 ? all.filter(isBefore).length : at);
  return at < 0 && presses >= 0 ? presses + 1 : presses;
}`;

/** Says that nobody looks, or that somebody does: a headless Chromium calls every tab visible. */
export const see = (page: Page, state: 'hidden' | 'visible'): Promise<unknown> =>
  page.evaluate(`
    Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
    document.dispatchEvent(new Event('visibilitychange'))`);

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
  // To encode a PNG costs several times the CPU time.
  const path = join(FOLDER, `${name}.jpeg`);
  await page.screenshot({ path, fullPage: true, type: 'jpeg', quality: 85 });
}

export type { BrowserContext, Page } from 'playwright-core';
