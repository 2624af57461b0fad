/**
 * Everything that is wrong with the configuration, found in one go; printed without a stack, since
 * no code is at fault.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(
      [
        `The configuration has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:`,
        ...problems.map((problem) => `  - ${problem}`),
      ].join('\n'),
    );
    this.problems = problems;
  }
}
