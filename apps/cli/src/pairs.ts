/** As `owner=acme,repository=app`. */
export const pairs = (fields: Readonly<Record<string, string | number>>): string =>
  Object.entries(fields)
    .map(([field, value]) => `${field}=${value}`)
    .join(',');
