import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { runNode } from '../run-node.ts';
import type { Survivor } from './survivor.ts';

/** The part of Stryker's report that this file reads. Lines and columns count from one. */
interface Report {
  readonly files: Readonly<
    Record<string, { readonly source: string; readonly mutants: readonly ReportedMutant[] }>
  >;
}

interface ReportedMutant {
  readonly status: string;
  readonly replacement?: string;
  readonly location: { readonly start: Position; readonly end: Position };
}

interface Position {
  readonly line: number;
  readonly column: number;
}

export interface JudgedDomain {
  readonly killed: number;
  readonly survivors: readonly Survivor[];
}

/** Lets Stryker break every expression and statement of the domain in the scratch copy. */
export async function judgeDomain(checkout: string, signal: AbortSignal): Promise<JudgedDomain> {
  const report = join(checkout, 'mutation.json');
  rmSync(report, { force: true });
  const { code, stdout, stderr } = await runNode(['tools/mutants/domain/run-stryker.ts'], {
    cwd: checkout,
    signal,
  });
  if (code !== 0) throw new Error(`Stryker ended with exit code ${code}:\n${stdout}\n${stderr}`);
  return readReport(JSON.parse(readFileSync(report, 'utf8')) as Report);
}

/** A mutant that runs for too long counts as killed; one that does not load does not count. */
function readReport({ files }: Report): JudgedDomain {
  const all = Object.entries(files).flatMap(([file, { source, mutants }]) =>
    mutants.map((mutant) => ({
      status: mutant.status,
      survivor: toSurvivor(file, source.split('\n'), mutant),
    })),
  );
  return {
    killed: all.filter(({ status }) => status === 'Killed' || status === 'Timeout').length,
    survivors: all
      .filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
      .map(({ survivor }) => survivor),
  };
}

function toSurvivor(
  file: string,
  lines: readonly string[],
  { replacement = '', location: { start, end } }: ReportedMutant,
): Survivor {
  const line = lines[start.line - 1] ?? '';
  const original =
    start.line === end.line
      ? line.slice(start.column - 1, end.column - 1)
      : `${line.slice(start.column - 1)} …`;
  return { file, lineNumber: start.line, line: line.trim(), original, replacement };
}
