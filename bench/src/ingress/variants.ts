export const VARIANTS = ['paddock', 'no-group-commit', 'plain', 'limit'] as const;
export type Variant = (typeof VARIANTS)[number];

/** How many connections deliver at once. */
export const CONNECTIONS = [1, 16, 64, 256] as const;
export const MOST_CONNECTIONS = 256;
