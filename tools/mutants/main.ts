// Breaks the code in many small ways and names the changes that no test notices.
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { NAMED } from '../../mutants/areas.ts';
import { survivors as excuses } from '../../mutants/domain-survivors.ts';
import { judgeDomain } from './domain/judge-domain.ts';
import { compareSurvivors, type Survivor } from './domain/survivor.ts';
import { type Judged, judgeNamed } from './judge-named.ts';
import { makeScratchCopy, type ScratchCopy } from './scratch-copy.ts';

const USAGE = `Usage: npx -y pnpm@12 mutants [--domain | --named] [--only TEXT] [--json]

  --domain       only what Stryker does to packages/domain
  --named        only the mutants of the folder mutants
  --only TEXT    only the named mutants whose name contains the text
  --json         stdout is one JSON object
`;

/** In percent of the domain's mutants. */
const LEAST_SCORE = 90;

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, () => stop.abort(new Error(`received ${name}`)));

try {
  await main(readFlags());
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

interface Flags {
  readonly domain: boolean;
  readonly named: boolean;
  readonly only: string;
  readonly json: boolean;
}

function readFlags(): Flags {
  try {
    const { values } = parseArgs({
      args: process.argv.slice(2).filter((argument) => argument !== '--'),
      options: {
        domain: { type: 'boolean', default: false },
        named: { type: 'boolean', default: false },
        only: { type: 'string', default: '' },
        json: { type: 'boolean', default: false },
      },
    });
    const { domain, named, only, json } = values;
    return {
      domain: domain || !(named || only !== ''),
      named: named || only !== '' || !domain,
      only,
      json,
    };
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`, {
      cause: error,
    });
  }
}

function makeCopy(): ScratchCopy {
  return makeScratchCopy(join(import.meta.dirname, '..', '..'));
}

async function main({ domain, named, only, json }: Flags): Promise<void> {
  const say = (line: string): void =>
    void (json ? process.stderr : process.stdout).write(`${line}\n`);
  const copy = makeCopy();
  const others = named ? Array.from({ length: availableParallelism() - 1 }, makeCopy) : [];
  try {
    const result = {
      ...(domain && { domain: await tryDomain(copy.path, say) }),
      ...(named && {
        named: await tryNamed([copy.path, ...others.map(({ path }) => path)], only, say),
      }),
    };
    if (json) process.stdout.write(`${JSON.stringify(result)}\n`);
  } finally {
    for (const { remove } of [copy, ...others]) remove();
  }
}

async function tryDomain(
  checkout: string,
  say: (line: string) => void,
): Promise<{ killed: number; survived: number; score: number }> {
  const { killed, survivors } = await judgeDomain(checkout, stop.signal);
  const { unexcused, unneeded } = compareSurvivors(survivors, excuses);
  const score = Math.round((10_000 * killed) / (killed + survivors.length)) / 100;
  for (const survivor of unexcused) say(describeSurvivor(survivor));
  for (const line of unneeded)
    say(`excused for nothing: ${line}\n          Take it from mutants/domain-survivors.ts.`);
  say(
    `domain: ${score} % of ${killed + survivors.length} mutants killed, ${unexcused.length} survived without a reason`,
  );
  if (score < LEAST_SCORE || unexcused.length > 0) process.exitCode = 1;
  return { killed, survived: survivors.length, score };
}

function describeSurvivor({ file, lineNumber, original, replacement }: Survivor): string {
  return `SURVIVED  ${file}:${lineNumber}: ${original} → ${replacement.replaceAll(/\s+/g, ' ')}
          Write the test that fails with it, or say in mutants/domain-survivors.ts why none can.`;
}

async function tryNamed(
  checkouts: readonly [string, ...string[]],
  only: string,
  say: (line: string) => void,
): Promise<{ mutant: string; killed_by: string | null }[]> {
  const chosen = NAMED.filter(({ mutant }) => mutant.includes(only));
  const judged = await judgeNamed(
    checkouts,
    chosen,
    (one) => say(describeJudged(one)),
    stop.signal,
  );
  if (judged.some(({ verdict }) => !('killedBy' in verdict))) process.exitCode = 1;
  return judged.map(({ mutant: { mutant }, verdict }) => ({
    mutant,
    killed_by: 'killedBy' in verdict ? verdict.killedBy : null,
  }));
}

function describeJudged({ mutant, verdict, seconds }: Judged): string {
  if ('killedBy' in verdict)
    return `killed    ${mutant.mutant} (${seconds.toFixed(0)} s): ${verdict.killedBy}`;
  if ('broken' in verdict)
    return `BROKEN    ${mutant.mutant}: ${verdict.broken}\n          Write it so that the code still loads and runs.`;
  const where = 'row' in mutant ? `the row ${mutant.row}` : mutant.tests.join(', ');
  return `SURVIVED  ${mutant.mutant}\n          ${where} passes with it in ${mutant.file}: write the test that does not.`;
}
