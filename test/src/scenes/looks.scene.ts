import type { Page } from './browser.scene.ts';

export const SIZES = {
  desk: { viewport: { width: 1_280, height: 800 } },
  phone: { viewport: { width: 375, height: 720 } },
  // As a browser of 1280 pixels shows it at 200 %.
  zoomed: { viewport: { width: 640, height: 400 } },
} as const;

export const LOOKS = [
  ['light', 'desk'],
  ['dark', 'desk'],
  ['light', 'phone'],
  ['dark', 'phone'],
  ['dark', 'zoomed'],
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
