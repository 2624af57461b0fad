/** A statement's parameters, by column and PostgreSQL type. */
export type SourceColumns = Readonly<Record<string, string>>;

/** The columns for json_to_recordset: any number of rows come as one JSON array of objects. */
export const asRecord = (columns: SourceColumns): string =>
  Object.entries(columns)
    .map(([name, type]) => `${name} ${type}`)
    .join(', ');
