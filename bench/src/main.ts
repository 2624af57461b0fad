import { main } from '@paddock/runtime/main';
import { benchQueue } from './bench-queue.ts';
import { readFlags, USAGE } from './flags.ts';
import { tableOf } from './results.ts';

await main(async () => {
  const read = readFlags(process.argv.slice(2));
  if ('problems' in read) {
    process.stderr.write(`${read.problems.join('\n')}\n\n${USAGE}`);
    process.exitCode = 2;
    return;
  }
  const { tasks, json } = read.flags;
  const runs = await benchQueue({ tasks, say: (line) => void process.stderr.write(`${line}\n`) });
  process.stdout.write(`${tableOf(runs)}\n`);
  if (json) process.stdout.write(`${JSON.stringify({ runs })}\n`);
});
