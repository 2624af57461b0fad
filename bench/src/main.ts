import { main } from '@paddock/runtime/run';
import { Command, InvalidArgumentError, Option } from 'commander';
import { all } from './all/bench-all.ts';
import type { Bench } from './bench.ts';
import { burst } from './burst/bench-burst.ts';
import { faults } from './faults/bench-faults.ts';
import { growth } from './growth/bench-growth.ts';
import { ingress } from './ingress/bench-ingress.ts';
import { match } from './match/bench-match.ts';
import { queue } from './queue/bench-queue.ts';

const program = new Command('bench').showHelpAfterError();
const benches: Record<string, Bench> = { all, burst, faults, growth, ingress, match, queue };
for (const [name, { about, numbers, parts, run }] of Object.entries(benches)) {
  const command = program
    .command(name)
    .description(about)
    .option('--json', 'one line of JSON instead of tables');
  for (const [flag, usual] of Object.entries(numbers))
    command.option(`--${flag} <number>`, '', wholeNumber, usual);
  if (parts !== undefined)
    command
      .addOption(new Option('--fault <name>').choices(parts))
      .option('--tape <folder>', 'records the services’ metrics there, for the tests of alerts');
  command.action(async ({ json, ...given }: Given) => {
    const { tables, notes = '', failed } = await run(given, given);
    if (json === true) console.log(JSON.stringify({ tables, failed: failed === true }));
    else {
      for (const rows of tables) console.table(rows);
      console.log(notes);
    }
    if (failed === true) process.exitCode = 1;
  });
}
await main(async () => void (await program.parseAsync()));

type Given = Record<string, number> & {
  readonly fault?: string;
  readonly tape?: string;
  readonly json?: true;
};

function wholeNumber(said: string): number {
  const number = Number(said);
  if (Number.isInteger(number) && number > 0) return number;
  throw new InvalidArgumentError('It must be a whole number from 1 on.');
}
