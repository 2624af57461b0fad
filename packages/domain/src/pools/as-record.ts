export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The fields of a mapping; none for any other value, about which the schema complains. */
export const asRecord = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});

export const asList = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? (value as unknown[]) : [];
