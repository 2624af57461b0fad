import { existsSync } from 'node:fs';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';

/** Where a Chromium is installed; undefined: nowhere that is usual. */
export const CHROMIUM = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => existsSync(path));

// The sandbox needs rights that a container may not have; the pages are ours.
export const startChromium = (executablePath: string): Promise<Browser> =>
  chromium.launch({ executablePath, args: ['--no-sandbox'] });

/** What the console's board says first of what holds back work. */
export const firstLine = (page: Page): Locator => page.locator('.trouble, .held').first();

/**
 * Opens the board by a link that signs in once. `read` returns its first line, which is empty while
 * nothing holds back work.
 */
export async function openBoard(executablePath: string, link: string) {
  const browser = await startChromium(executablePath);
  try {
    const page = await browser.newPage();
    await page.goto(link);
    await page.locator('h1').waitFor();
    return {
      read: async () => (await firstLine(page).allTextContents()).join(''),
      close: () => browser.close(),
    };
  } catch (error) {
    // It would keep this process alive.
    await browser.close();
    throw error;
  }
}
