import { signal } from '@preact/signals';

const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const KEPT_AS = 'paddock-theme';

/** `auto` is what the person’s system says. */
export const theme = signal<Theme>('auto');

export function readTheme(): void {
  set(THEMES.find((one) => one === localStorage.getItem(KEPT_AS)) ?? 'auto');
}

export function switchTheme(): void {
  set(THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? 'auto');
  localStorage.setItem(KEPT_AS, theme.value);
}

function set(chosen: Theme): void {
  theme.value = chosen;
  document.documentElement.dataset['theme'] = chosen;
}
