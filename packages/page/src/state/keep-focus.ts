/** What had the focus last. */
let last: EventTarget | null = null;

/**
 * What has the focus may go: a row ends, an action takes its own button away. Who uses the keyboard
 * goes on from the heading then, and not from the top of the page.
 */
export function keepFocus(): void {
  addEventListener('focusin', ({ target }) => (last = target));
  new MutationObserver(giveBackFocus).observe(document.body, { childList: true, subtree: true });
}

/** Gives the focus to the heading if what had it is gone. */
export function giveBackFocus(): void {
  const isGone = last instanceof Element && !last.isConnected;
  if (isGone && document.activeElement === document.body)
    document.querySelector('h1')?.focus({ preventScroll: true });
}
