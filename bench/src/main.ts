import { main } from '@paddock/runtime/main';
import { burst } from './burst/bench-burst.ts';
import { faults } from './faults/bench-faults.ts';
import { readFlags, usageOf } from './bench.ts';
import { growth } from './growth/bench-growth.ts';
import { ingress } from './ingress/bench-ingress.ts';
import { match } from './match/bench-match.ts';
import { queue } from './queue/bench-queue.ts';

const benches = { burst, faults, growth, ingress, match, queue };

await main(async () => {
  const read = readFlags(process.argv.slice(2), benches);
  if ('problems' in read) {
    process.stderr.write(`${read.problems.join('\n')}\n\n${usageOf(benches)}`);
    process.exitCode = 2;
    return;
  }
  const { bench, size, json, ...given } = read.flags;
  const { table, result, failed } = await bench.run(
    size,
    (line) => void process.stderr.write(`${line}\n`),
    given,
  );
  process.stdout.write(`${table}\n`);
  if (json) process.stdout.write(`${JSON.stringify(result)}\n`);
  if (failed === true) process.exitCode = 1;
});
