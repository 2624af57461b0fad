export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The fields of what may be a mapping; what is none has none. For checks beside a schema that tells what should have been one. */
export const asRecord = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);
