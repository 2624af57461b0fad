import { signal } from '@preact/signals';

const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const KEPT_AS = 'paddock-theme';

/** `auto` is what the person’s system says. */
export const theme = signal<Theme>('auto');

/** Whether the person’s system is dark: what is drawn in its colours is drawn anew. */
export const isDark = signal(false);

export function readTheme(): void {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  isDark.value = dark.matches;
  dark.addEventListener('change', ({ matches }) => (isDark.value = matches));
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
