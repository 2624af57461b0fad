/** How to see the page after this one. */
export const more = (next: string | null): string =>
  next === null ? '' : `\nThere are more: add --after ${next}\n`;

export const ENTITY = { type: 'string', value: 'LOGIN|ID', doc: 'of this entity only' } as const;

export const DATES = {
  from: { type: 'string', value: 'DATE', doc: 'from 2026-01-31, an instant or -7d, -24h' },
  to: { type: 'string', value: 'DATE', doc: 'until the end of 2026-01-31, an instant or -24h' },
} as const;

export const POOL = { type: 'string', value: 'POOL', doc: 'of this pool only' } as const;
