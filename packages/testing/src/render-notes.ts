import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHART, type Release, renderChart } from './render-chart.ts';

/** What the chart tells after an installation. Helm prints it beside a cluster alone. */
export function renderNotes(release: Release): string {
  const chart = mkdtempSync(join(tmpdir(), 'paddock-chart-'));
  try {
    cpSync(CHART, chart, { recursive: true });
    const notes = readFileSync(join(CHART, 'templates/NOTES.txt'), 'utf8');
    writeFileSync(
      join(chart, 'templates/notes.yaml'),
      `{{ define "notes" }}${notes}{{ end }}kind: Notes\ntext: {{ include "notes" . | toJson }}`,
    );
    const rendered = renderChart({ ...release, chart }).find(({ kind }) => kind === 'Notes');
    return String(rendered?.['text']);
  } finally {
    rmSync(chart, { recursive: true });
  }
}
