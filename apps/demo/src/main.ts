import { join } from 'node:path';
import { main } from '@paddock/runtime/run';
import { readFlags, USAGE } from './flags.ts';
import { runDemo } from './run-demo.ts';
import { isSuccess } from './summary.ts';

await main(async () => {
  if (process.argv.includes('--help')) {
    process.stdout.write(USAGE);
    return;
  }
  const kubeconfigFile = process.env['KUBECONFIG'] || undefined;
  const read = readFlags(process.argv.slice(2), kubeconfigFile);
  if ('problems' in read) {
    process.stderr.write(`${read.problems.join('\n')}\n\n${USAGE}`);
    process.exitCode = 2;
    return;
  }
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stop.signal.aborted) process.exit(130);
      stop.abort(new Error(`received ${signal}`));
    });
  }
  const summary = await runDemo(
    read.flags,
    {
      databaseUrl: process.env['DATABASE_URL'],
      kubeconfigFile: read.flags.cluster === 'real' ? kubeconfigFile : undefined,
      path: process.env['PATH'],
      write: (text) => process.stdout.write(text),
      programOf: (service) => join(import.meta.dirname, '../..', service),
    },
    stop.signal,
  );
  if (summary === undefined) {
    process.exitCode = 130;
    return;
  }
  process.exitCode = isSuccess(summary) ? 0 : 1;
  if (read.flags.json) process.stdout.write(`${JSON.stringify(summary)}\n`);
});
