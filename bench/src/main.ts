import { main } from '@paddock/runtime/main';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Bench } from './bench.ts';
import { burst } from './burst/bench-burst.ts';
import { faults } from './faults/bench-faults.ts';
import { growth } from './growth/bench-growth.ts';
import { ingress } from './ingress/bench-ingress.ts';
import { match } from './match/bench-match.ts';
import { queue } from './queue/bench-queue.ts';

const program = new Command('bench').showHelpAfterError();
const benches: Readonly<Record<string, Bench>> = { burst, faults, growth, ingress, match, queue };
for (const [name, { about, numbers, part, run }] of Object.entries(benches)) {
  const command = program.command(name).description(about);
  command.option('--json', 'the last line of stdout is one JSON object');
  for (const [flag, usual] of Object.entries(numbers))
    command.option(`--${flag} <number>`, '', wholeNumber, usual);
  if (part !== undefined) command.addOption(new Option(`--${part.flag} <name>`).choices(part.of));
  command.action(async ({ json, [part?.flag ?? '']: wanted, ...given }: Given) => {
    const { tables, notes = '', failed } = await run(given, wanted as string | undefined);
    for (const rows of Object.values(tables)) console.table(rows);
    console.log(notes);
    if (json === true) console.log(JSON.stringify(tables));
    if (failed === true) process.exitCode = 1;
  });
}
await main(async () => void (await program.parseAsync()));

type Given = Record<string, number> & { readonly json?: boolean };

function wholeNumber(said: string): number {
  const number = Number(said);
  if (Number.isInteger(number) && number > 0) return number;
  throw new InvalidArgumentError('It must be a whole number from 1 on.');
}
