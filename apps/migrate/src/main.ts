import { databaseUrl } from '@paddock/db/connection/database-url';
import { type MigrateOptions, migrate, pendingSql } from '@paddock/db/migrate';
import { main } from '@paddock/runtime/run';
import { printConfigIfAsked } from '@paddock/runtime/read-config';
import { readMigrateConfig, settings } from './settings.ts';
import { explainFailure } from './explain-failure.ts';

await main(async () => {
  const config = readMigrateConfig(process.env);
  if (printConfigIfAsked(process.argv, settings, config, ['--print'])) return;
  const options: MigrateOptions = { url: databaseUrl(config), schema: config.schema };
  try {
    if (process.argv.includes('--print')) await print(options);
    else await apply(options);
  } catch (error) {
    const sentence = explainFailure(error, options.schema);
    if (sentence === undefined) throw error;
    process.stderr.write(`${sentence}\n`);
    process.exitCode = 1;
  }
});

/** Prints only SQL to stdout, so that it can be piped. */
async function print(options: MigrateOptions): Promise<void> {
  const pending = await pendingSql(options);
  process.stdout.write(
    pending === ''
      ? `-- The schema ${options.schema} is up to date: nothing is pending.\n`
      : pending,
  );
}

async function apply(options: MigrateOptions): Promise<void> {
  const { applied, unknown, missingRoles = [] } = await migrate(options);
  for (const name of applied)
    process.stdout.write(`Applied ${name} to the schema ${options.schema}.\n`);
  if (unknown !== undefined) {
    process.stdout.write(
      `The schema ${options.schema} is newer than this version, which does not know ${unknown}: nothing to apply.\n`,
    );
    return;
  }
  if (applied.length === 0)
    process.stdout.write(`The schema ${options.schema} is up to date: nothing to apply.\n`);
  if (missingRoles.length > 0) process.stderr.write(`${missingRolesSentence(missingRoles)}\n`);
}

function missingRolesSentence(roles: readonly string[]): string {
  const making = roles.map((role) => `create role ${role} nologin;`).join(' ');
  return `The services' roles got no rights, since the role in DATABASE_URL may not create roles. Have a role that may do so run "${making}", then run this again. Services that connect with another role go on.`;
}
