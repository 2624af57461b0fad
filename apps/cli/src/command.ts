import type { Environment } from '@paddock/runtime/settings';

export interface CommandResult {
  /** 0: done; 1: it could not be done, or the answer is no; 2: wrong command. */
  readonly code: 0 | 1 | 2;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Option {
  /** Stands for the value in the help, as `NAME`. Undefined: it takes none. */
  readonly value?: string;
  /** What the value may be, if it is one of few. */
  readonly values?: readonly string[];
  readonly doc: string;
}

export interface Given {
  /** One if the command takes one. */
  readonly words: readonly string[];
  /** By their names in camel case. */
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
  readonly environment: Environment;
  /** Where a live view is drawn; without one, nothing is. */
  readonly terminal?: Terminal | undefined;
}

export interface Terminal {
  /** Without lines, echo and signals of keys in raw mode; a redirected input has no such mode. */
  readonly input: NodeJS.ReadableStream & { setRawMode?(isRaw: boolean): unknown };
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly rows?: number };
  /** Where a command tells what it waits for. */
  readonly notes: NodeJS.WritableStream;
}

export interface Command {
  /** As `pools check`. */
  readonly name: string;
  /** The word that follows the name in the help, as `FILE`; empty: none does. */
  readonly takes: string;
  /** What may stand there, as the names of sweeps, beside what `takes` spells out. */
  readonly words?: readonly string[];
  readonly summary: string;
  readonly options: Readonly<Record<string, Option>>;
  /** Throws a WrongUsage. */
  run(given: Given): CommandResult | Promise<CommandResult>;
}

/** The words or options do not fit the command. The message says how. */
export class WrongUsage extends Error {
  override readonly name = 'WrongUsage';
}

export const JSON_OPTION = { doc: 'One JSON object on one line' } as const;
