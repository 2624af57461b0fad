// Takes the README's pictures of the console from the demo's tour, with Chromium: `pnpm screenshots`.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Browser, chromium } from 'playwright-core';
import { CHROMIUM } from '../packages/testing/src/chromium.ts';

const FOLDER = join(import.meta.dirname, '..', 'docs', 'pictures');
/** GitHub shows a README about 830 pixels wide: the text stays legible there. */
const WIDTH = 1_160;
const MOST_BYTES = 500_000;

/** The state of the tour whose job's page is the second picture. */
const EXPLAINED = 'at_pool_cap';

const PICTURES = [
  { name: 'board', height: 840 },
  { name: 'why', height: 440 },
] as const;

interface Demo {
  /** The console, where one sign-in is left. */
  readonly link: string;
  /** The page of the job. */
  readonly job: string;
  stop(): Promise<void>;
}

if (CHROMIUM === undefined) {
  process.stderr.write('No Chromium is installed, which takes the pictures.\n');
  process.exitCode = 2;
} else {
  const demo = await startDemo();
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  try {
    await takePictures(browser, demo);
  } finally {
    await browser.close();
    await demo.stop();
  }
}

async function startDemo(): Promise<Demo> {
  const program: ChildProcess = spawn(process.execPath, ['apps/demo', '--tour'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(program, 'exit');
  let text = '';
  for await (const line of createInterface({ input: program.stdout ?? process.stdin })) {
    process.stdout.write(`${line}\n`);
    text += `${line}\n`;
    if (line.startsWith('Staying up')) break;
  }
  const link = /\S+\/#sign-in=\S+/.exec(text)?.[0];
  const job = new RegExp(`\n  ${EXPLAINED}\n.*\n +(\\S+)\n`).exec(text)?.[1];
  if (link === undefined || job === undefined) throw new Error(`The tour shows no ${EXPLAINED}.`);
  return {
    link,
    job,
    async stop() {
      program.kill('SIGINT');
      await exited;
    },
  };
}

async function takePictures(browser: Browser, { link, job }: Demo): Promise<void> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(link);
  await page.getByRole('heading', { name: 'Fleet' }).waitFor();
  await mkdir(FOLDER, { recursive: true });
  const pages = { board: new URL('/', link).href, why: job };
  let bytes = 0;
  for (const { name, height } of PICTURES)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width: WIDTH, height });
      await page.emulateMedia({ colorScheme });
      await page.goto(pages[name]);
      await page.locator('h1').waitFor();
      await page.locator('output').first().waitFor({ state: 'detached' });
      await page.locator('.live', { hasText: 'Live' }).waitFor();
      const picture = await page.screenshot();
      bytes += picture.length;
      await writeFile(join(FOLDER, `${name}-${colorScheme}.png`), picture);
    }
  process.stdout.write(`docs/pictures has ${Math.round(bytes / 1_000)} kB.\n`);
  if (bytes > MOST_BYTES) throw new Error(`The pictures have more than ${MOST_BYTES} bytes.`);
}
