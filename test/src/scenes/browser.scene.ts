import { afterAll, beforeAll, describe } from '@jest/globals';
import type { Console } from '@paddock/console/scenes/console.scene';
import { CHROMIUM, startChromium } from '@paddock/testing/chromium';
import { late } from '@paddock/testing/use-test-database';
import { PATIENCE_MS } from '@paddock/testing/wait-for';
import axe from 'axe-core';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { MISSING } from './fleet.scene.ts';

/** Tests in a browser: skipped by their names where there is none. */
export const describeInBrowser = CHROMIUM === undefined ? describe.skip : describe;

/** One browser for the tests of a file. */
export function useBrowser(): Browser {
  let browser: Browser;
  const executablePath = CHROMIUM;
  if (executablePath !== undefined) {
    beforeAll(async () => {
      browser = await startChromium(executablePath);
      const newContext = browser.newContext.bind(browser);
      browser.newContext = async (options) => {
        const context = await newContext(options);
        context.setDefaultTimeout(PATIENCE_MS);
        return context;
      };
    });
    afterAll(() => browser.close());
  }
  return late(() => browser);
}

/** The cookie of a session that a token begins. */
export async function signIn({ ask, port }: Pick<Console, 'ask' | 'port'>, token: string) {
  const answer = await ask('../../session', token, { method: 'POST' });
  const value = /^paddock=([^;]*)/.exec(answer.headers.get('set-cookie') ?? '')?.[1] ?? '';
  return { name: 'paddock', value, url: `http://127.0.0.1:${port}/` };
}

/** Opens a page of a console in a session; without a browser there is none. */
export function usePages() {
  if (CHROMIUM === undefined) return () => Promise.resolve(undefined);
  const browser = useBrowser();
  return async (cookie: Awaited<ReturnType<typeof signIn>>): Promise<Page> => {
    const context = await browser.newContext(SIZES.desk);
    await context.addCookies([cookie]);
    const page = await context.newPage();
    await page.goto(cookie.url);
    return page;
  };
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

const RULES = {
  all: '',
  colours: ", runOnly: ['color-contrast']",
  shape: ", rules: { 'color-contrast': { enabled: false } }",
} as const;

/** What axe-core finds, by its rule, with the elements. */
export async function flaws(
  page: Page,
  which: keyof typeof RULES,
  isCounted: (impact: string | null) => boolean = () => true,
): Promise<string[]> {
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run({ resultTypes: ['violations']${RULES[which]} })`,
  );
  return violations
    .filter(({ impact }) => isCounted(impact))
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
    );
}

/** What it calls serious or critical. */
export const seriousFlaws = (page: Page, which: keyof typeof RULES): Promise<string[]> =>
  flaws(page, which, (impact) => impact === 'serious' || impact === 'critical');

/** Values of the view that have a page of their own, and lead nowhere; the view's own are in its heading. */
export const unlinked = (page: Page, names: readonly string[]): Promise<unknown> =>
  page.evaluate(`(() => {
    const names = new Set(${JSON.stringify(names)});
    const own = decodeURIComponent(location.href);
    return [...document.querySelectorAll('main td, main dd')]
      .filter((cell) => !cell.querySelector('a'))
      .map((cell) => cell.innerText.trim())
      .filter((text) => (names.has(text) || /^pdk-\\S+$/.test(text)) && !own.includes(text));
  })()`);

/** Of these there is no list: ids, versions, sums, how often something came, and what lives on a node. */
const NO_LIST =
  /: (App|Entity id|Version|Runner minutes|Week before|Run|Times)$|^Usage: Workers|^Nodes: |by labels: |other runners: /;

/** The columns of the view with a count of things that leads to no list of them. */
export async function unlinkedNumbers(page: Page): Promise<string[]> {
  const named = await page.evaluate<string[]>(`[...document.querySelectorAll('main td.number')]
    .filter((cell) => /^[1-9][\\d,.]*$/.test(cell.innerText.trim()) && !cell.querySelector('a'))
    .map((cell) => cell.closest('table').caption.innerText + ': ' + cell.dataset.name)`);
  return named.filter((name) => !NO_LIST.test(name));
}

const FOLDER = join(import.meta.dirname, '..', '..', 'screenshots');

/** Where `test/screenshots` is, keeps a picture of the whole page to look at; git ignores the folder. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  // A third of the time of this file.
  if (!existsSync(FOLDER)) return;
  // To encode a PNG costs several times the CPU time.
  const path = join(FOLDER, `${name}.jpeg`);
  await page.screenshot({ path, fullPage: true, type: 'jpeg', quality: 85 });
}

export type { BrowserContext, Page } from 'playwright-core';

export const SIZES = {
  desk: { viewport: { width: 1_280, height: 800 } },
  phone: { viewport: { width: 375, height: 720 } },
  // As a browser of 1280 pixels shows it at 200 %.
  zoomed: { viewport: { width: 640, height: 400 } },
} as const;

/** How a view is seen, and what is judged then: another theme changes nothing but colours, and another width none. */
export const LOOKS = [
  { theme: 'light', size: 'desk', rules: 'all' },
  { theme: 'light', size: 'phone', rules: 'shape' },
  { theme: 'dark', size: 'zoomed' },
  { theme: 'dark', size: 'desk', rules: 'colours' },
] as const;

const CUT_OFF = `(() => {
  const bar = document.querySelector('.top').getBoundingClientRect();
  const parts = [...document.querySelectorAll('.top > a, .top nav a, .top input, .top > button, .top summary')];
  const boxes = parts.map((part) => [part.textContent || part.ariaLabel, part.getBoundingClientRect()]);
  const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
  return boxes
    .filter(([, box], n) => box.left < 0 || box.right > bar.right || box.bottom > bar.bottom + 1 ||
      boxes.some(([, other], m) => m !== n && meet(box, other)))
    .map(([name, box]) => name + ' ' + Math.round(box.left) + '-' + Math.round(box.right));
})()`;

/** The parts of the bar that stand outside it, or on another one. */
export const cutOffInBar = (page: Page): Promise<unknown> => page.evaluate(CUT_OFF);

/** An action as somebody without a mouse takes it. */
interface ByKeyboard {
  /** The endpoint by which the audit knows it. */
  readonly endpoint: string;
  /** A view of the bar, as `/jobs`, or what is pasted into the field above every view. */
  readonly at: string;
  /** In the list of that view, it is the first row’s page that has the button. */
  readonly isFirst?: boolean;
  /** What the view says before. */
  readonly shows?: string;
  /** The text of the button that asks; or of its row. */
  readonly button: string | RegExp;
  readonly fill?: Readonly<Record<string, string>>;
  /** What the dialog says, such as the count. */
  readonly says?: string;
}

const FAILED = '/operations?status=ERROR&handled=false';
const HANDLE = { endpoint: 'handleFailedOperations', at: FAILED };
const HELD_BACK = 'token ada holds back';
const SINCE = { app: '1001', since: '-24h' };

/** Of the board: of which pool's job, why it waits, the words of the cause, and what is away. */
export const FIRST_LINES = [
  ['gpu-a100', 'no_capacity', 'No node takes'],
  ['windows', 'making_stopped', 'ada holds back the making of workers of the pool windows'],
  ['linux-arm64', 'cluster_unavailable', 'The cluster has not answered', 'default'],
  ['linux-x64', 'github_unavailable', 'GitHub has not answered', 'github'],
] as const;

/** Every action of the page. */
export const ACTIONS: readonly ByKeyboard[] = [
  { endpoint: 'turnSwitch', at: 'gpu-a100', button: 'Stop making …' },
  { endpoint: 'drain', at: 'linux-arm64', button: 'Drain …', says: '0 workers' },
  { endpoint: 'turnSwitch', at: 'gpu-a100', shows: HELD_BACK, button: 'Resume …' },
  { endpoint: 'drain', at: 'pdk-a1b2c3-linux-x64-0015', button: 'Drain …' },
  { endpoint: 'handleOperation', at: FAILED, isFirst: true, button: 'Retry …' },
  { endpoint: 'handleOperation', at: FAILED, isFirst: true, button: 'Discard …' },
  { ...HANDLE, button: 'Retry all that fit …', says: '6 operations' },
  { ...HANDLE, button: 'Discard all that fit …', says: '0 operations' },
  { endpoint: 'redeliverDelivery', at: MISSING, button: 'Redeliver …' },
  { endpoint: 'runSweep', at: '/redeliveries', button: 'Redeliver since …', fill: SINCE },
  { endpoint: 'resyncInstallation', at: '51000001', button: 'Resync …' },
  { endpoint: 'resyncRepository', at: 'acme/api', button: 'Resync …' },
  { endpoint: 'turnSwitch', at: 'acme/api', button: 'Forbid resyncs …' },
  { endpoint: 'runSweep', at: '/sweeps', button: /redeliver:1001/ },
  { endpoint: 'tryAgain', at: 'gpu-a100', button: 'Try again now …' },
  { endpoint: 'turnSwitch', at: '/switches', button: 'Pause a sweep …' },
  { endpoint: 'turnSwitch', at: '/switches', button: /all sweeps/ },
  { endpoint: 'turnSwitch', at: '/switches', button: /pool windows/ },
  { endpoint: 'createToken', at: '/tokens', button: 'New token …', fill: { name: 'by-keyboard' } },
  {
    endpoint: 'endSessions',
    at: '/tokens',
    button: 'Sign a person out …',
    fill: { person: 'ada@example.com' },
  },
  { endpoint: 'revokeToken', at: '/tokens', button: /^by-keyboard/ },
];

/** Takes an action with keys only, and leaves its dialog. Returns what the dialog said. */
export const actByKeyboard = (page: Page, action: ByKeyboard): Promise<string> =>
  act(page, action).catch((error: unknown) => {
    throw new Error(`${action.endpoint} by ${action.button}`, { cause: error });
  });

async function act(page: Page, action: ByKeyboard): Promise<string> {
  await go(page, action.at);
  if (action.isFirst) {
    // The rows of the list before it may stand there still.
    await page.locator(`.tabs a[aria-current][href$="${action.at}"]`).waitFor();
    await reach(page, page.locator('td a'));
    await page.keyboard.press('Enter');
  }
  if (action.shows !== undefined) await page.getByText(action.shows).waitFor();
  const { button } = action;
  await reach(
    page,
    typeof button === 'string'
      ? page.locator('main').getByRole('button', { name: button, exact: true })
      : page.getByRole('row').filter({ hasText: button }).getByRole('button'),
  );
  await page.keyboard.press('Enter');
  const dialog = page.locator('dialog[open]');
  await dialog.waitFor();
  const found = await flaws(page, 'all');
  if (found.length > 0) throw new Error(`The dialog has flaws: ${found.join('; ')}`);
  if (action.says !== undefined) await dialog.getByText(action.says).first().waitFor();
  if (action.fill !== undefined) await stayIn(page);
  for (const [name, text] of Object.entries({ ...action.fill, note: action.endpoint })) {
    await reach(page, dialog.locator(`[name=${name}]`));
    await page.keyboard.insertText(text);
  }
  await reach(page, dialog.locator('button[type=submit]'));
  await page.keyboard.press('Enter');
  // It closes by itself, or says what it has done.
  await dialog.locator('form').waitFor({ state: 'detached' });
  const said = (await dialog.allInnerTexts()).join('');
  if (said !== '') await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  // The focus is back where the action began, or at the heading if that is gone.
  await page.locator('button:focus, h1:focus').waitFor({ timeout: 10_000 });
  return said;
}

/** What opens the way to a view that has no entry of its own in the bar. */
const WITHIN: Readonly<Record<string, string>> = {
  [FAILED]: '.top nav a[href$="/operations"]',
  '/redeliveries': '.top nav a[href$="/installations"]',
  '/sweeps': '.top nav a[href$="/operations"]',
  '/switches': '.top nav a[href$="/operations"]',
  '/tokens': '.person summary',
};

async function go(page: Page, at: string): Promise<void> {
  if (at.startsWith('/')) {
    const entry = WITHIN[at];
    if (entry !== undefined) {
      await reach(page, page.locator(entry));
      await page.keyboard.press('Enter');
    }
    await reach(page, page.locator(`nav a[href$="${at}"], .person a[href$="${at}"]`).first());
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.pathname + url.search === at);
  } else {
    await reach(page, page.locator('.find input'));
    await type(page, at);
    await page.waitForURL(
      (url) => url.pathname !== '/find' && decodeURIComponent(url.href).includes(at),
    );
  }
}

/** Tab goes round in the dialog, and never to what lies below it. */
async function stayIn(page: Page): Promise<void> {
  for (let presses = 0; presses < 6; presses += 1) {
    await page.keyboard.press('Tab');
    const isOut = await page.evaluate(
      `!document.activeElement.closest('dialog') && document.activeElement !== document.body`,
    );
    if (isOut === true) throw new Error('Tab left the dialog');
  }
}
