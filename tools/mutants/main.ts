// Breaks the code in many small ways and names the changes that no test notices.
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { survivors as excuses } from '../../mutants/domain-survivors.ts';
import { judgeDomain } from './domain/judge-domain.ts';
import { compareSurvivors, type Survivor } from './domain/survivor.ts';
import { type Judged, judgeNamed } from './judge-named.ts';
import { readNamedMutants } from './named-mutants.ts';
import { makeScratchCopy, type ScratchCopy } from './scratch-copy.ts';

const USAGE = `Usage: npx -y pnpm@12 mutants [--domain | --named] [--only TEXT]

  --domain       only what Stryker does to packages/domain
  --named        only the mutants of the folder mutants
  --only TEXT    only the named mutants whose name contains the text
`;

/** In percent of the domain's mutants. */
const LEAST_SCORE = 90;

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, () => stop.abort(new Error(`received ${name}`)));

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const copies: ScratchCopy[] = [];
try {
  const { domain, named, only } = readFlags();
  for (let left = Math.max(1, availableParallelism() - 1); left > 0; left--)
    copies.push(makeScratchCopy(join(import.meta.dirname, '../..')));
  const [first, ...others] = copies.map(({ path }) => path) as [string, ...string[]];
  if (domain || !named) await tryDomain(first);
  if (named || !domain) await tryNamed([first, ...others], only);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  for (const { remove } of copies) remove();
}

function readFlags(): { domain: boolean; named: boolean; only: string } {
  try {
    const { values } = parseArgs({
      args: process.argv.slice(2).filter((argument) => argument !== '--'),
      options: {
        domain: { type: 'boolean', default: false },
        named: { type: 'boolean', default: false },
        only: { type: 'string', default: '' },
      },
    });
    return { ...values, named: values.named || values.only !== '' };
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`, {
      cause: error,
    });
  }
}

async function tryDomain(checkout: string): Promise<void> {
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
}

function describeSurvivor({ file, lineNumber, original, replacement }: Survivor): string {
  return `SURVIVED  ${file}:${lineNumber}: ${original} → ${replacement.replaceAll(/\s+/g, ' ')}
          Write the test that fails with it, or say in mutants/domain-survivors.ts why none can.`;
}

async function tryNamed(checkouts: readonly [string, ...string[]], only: string): Promise<void> {
  const chosen = readNamedMutants().filter(({ mutant }) => mutant.includes(only));
  const judged = await judgeNamed(
    checkouts,
    chosen,
    (one) => say(describeJudged(one)),
    stop.signal,
  );
  if (judged.some(({ verdict }) => !('killedBy' in verdict))) process.exitCode = 1;
}

function describeJudged({
  mutant: { mutant, file, tests, row },
  verdict,
  seconds,
}: Judged): string {
  if ('killedBy' in verdict)
    return `killed    ${mutant} (${seconds.toFixed(0)} s): ${verdict.killedBy}`;
  if ('broken' in verdict)
    return `BROKEN    ${mutant}: ${verdict.broken}\n          Write it so that the code still loads and runs.`;
  const where = row === undefined ? tests.join(', ') : `the row ${row.name}`;
  return `SURVIVED  ${mutant}\n          ${where} passes with it in ${file}: write the test that does not.`;
}
