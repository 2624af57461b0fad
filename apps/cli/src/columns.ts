/**
 * Rows as aligned columns under their heads; no rows: `nothing`. Control characters, which foreign
 * text may have, are shown as a point each.
 */
export function columns(
  heads: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
  nothing: string,
): string {
  if (rows.length === 0) return `${nothing}\n`;
  const cells = [heads, ...rows.map((row) => row.map((cell) => printable(`${cell ?? '-'}`)))];
  const widths = heads.map((_head, n) => Math.max(...cells.map((row) => (row[n] ?? '').length)));
  return cells
    .map((row) =>
      row
        .map((cell, n) => cell.padEnd(widths[n] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}

/** A name from GitHub must not move the cursor or clear the screen of the person who reads it. */
export const printable = (text: string): string => text.replaceAll(/\p{C}|\p{Zl}|\p{Zp}/gu, '·');
