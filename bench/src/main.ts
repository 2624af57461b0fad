import { main } from '@paddock/runtime/main';
import { burst } from './burst/bench-burst.ts';
import { faults } from './faults/bench-faults.ts';
import { readFlags } from './bench.ts';
import { tableOf } from './figures.ts';
import { growth } from './growth/bench-growth.ts';
import { ingress } from './ingress/bench-ingress.ts';
import { match } from './match/bench-match.ts';
import { queue } from './queue/bench-queue.ts';

await main(async () => {
  const benches = { burst, faults, growth, ingress, match, queue };
  const wanted = readFlags(process.argv.slice(2), benches);
  if (typeof wanted === 'string') {
    process.stderr.write(wanted);
    process.exitCode = 2;
    return;
  }
  const { bench, given, json } = wanted;
  const { tables, notes, failed } = await bench.run(
    given,
    (line) => void process.stderr.write(`${line}\n`),
  );
  const printed = [...Object.values(tables).map(tableOf), ...(notes === undefined ? [] : [notes])];
  process.stdout.write(`${printed.join('\n\n')}\n`);
  if (json) process.stdout.write(`${JSON.stringify(tables)}\n`);
  if (failed === true) process.exitCode = 1;
});
