/** The version of a runner whose image does not name one. */
export const NEWEST_VERSION = '2.337.0';

/**
 * Versions that GitHub knows, with the end of each; null: none is set yet. As GitHub answered on
 * 2026-09-29.
 */
export const KNOWN_VERSIONS: Readonly<Record<string, string | null>> = {
  '2.329.0': '2026-01-23T17:10:35Z',
  '2.333.1': '2026-06-30T15:52:45Z',
  '2.335.1': '2026-09-24T15:30:55Z',
  [NEWEST_VERSION]: null,
};
