import { ConfigError } from './config-error.ts';

/**
 * Wraps the body of a `main.ts`. Prints a wrong configuration without a stack and any other failure
 * with one; both end with code 1. Otherwise the process ends by itself once nothing is left to do.
 */
export async function main(body: () => Promise<void>): Promise<void> {
  try {
    await body();
  } catch (error) {
    process.stderr.write(
      error instanceof ConfigError
        ? `${error.message}\n`
        : `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    process.exitCode = 1;
  }
}
