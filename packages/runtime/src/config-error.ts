/**
 * All problems of the configuration, found in one go. It is printed without a stack: no code is at
 * fault.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];
  /** The variables are right: what is wrong can be mended while the process runs. */
  readonly isOfFiles: boolean;

  constructor(problems: readonly string[], isOfFiles = false) {
    super(
      [
        `The configuration has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:`,
        ...problems.map((problem) => `  - ${problem}`),
      ].join('\n'),
    );
    this.problems = problems;
    this.isOfFiles = isOfFiles;
  }
}
