import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Throws as `readFileSync` does. */
export type ReadFile = (path: string) => string;

export const readText: ReadFile = (path) => readFileSync(path, 'utf8');

/** What some files say, read again while the service runs. */
export interface FileReading<T> {
  /** What the files say, if they have changed since the last look and are valid. Never rejects. */
  look(): Promise<T | undefined>;
  /** Why the files are refused as they are now, or undefined. */
  refusal(): string | undefined;
}

export interface FileReadingOptions<T> {
  /**
   * Reads all that it needs by `readFile`: a change of these files causes the next reading.
   * Undefined, or a problem in the list, refuses what they say.
   */
  readonly read: (readFile: ReadFile, problems: string[]) => T | undefined | Promise<T | undefined>;
  /** Called once for each state of the files that is refused. */
  readonly onRefused: (problems: readonly string[]) => void;
  /** Called for each state that is accepted, the first included. */
  readonly onAccepted: () => void;
}

/** Files must have been the same for this long: an editor may still be writing one. */
const SETTLED_AFTER_MS = 200;

/**
 * Compares the whole files at every look. Kubernetes replaces a mounted ConfigMap or Secret by
 * switching a link, which file watchers miss and modification times hide.
 */
export function createFileReading<T>({
  read,
  onRefused,
  onAccepted,
}: FileReadingOptions<T>): FileReading<T> {
  /** The files of the last reading. */
  let seen: Files | undefined;
  let refusal: string | undefined;

  async function hasChanged(before: Files): Promise<boolean> {
    const changed = readAll([...before.keys()]);
    if (isSame(changed, before)) return false;
    await sleep(SETTLED_AFTER_MS);
    return isSame(readAll([...before.keys()]), changed);
  }

  return {
    refusal: () => refusal,
    look: async () => {
      if (seen !== undefined && !(await hasChanged(seen))) return undefined;
      const files: Files = new Map();
      const problems: string[] = [];
      const value = await read((path) => textOf(take(files, path)), problems);
      seen = files;
      if (value === undefined || problems.length > 0) {
        refusal = problems.join('; ');
        onRefused(problems);
        return undefined;
      }
      refusal = undefined;
      onAccepted();
      return value;
    },
  };
}

/** Each file's text, or the error of reading it. */
type Files = Map<string, string | Error>;

function take(files: Files, path: string): string | Error {
  let content: string | Error;
  try {
    content = readText(path);
  } catch (error) {
    content = error instanceof Error ? error : new Error(String(error));
  }
  files.set(path, content);
  return content;
}

function textOf(content: string | Error): string {
  if (content instanceof Error) throw content;
  return content;
}

function readAll(paths: readonly string[]): Files {
  const files: Files = new Map();
  for (const path of paths) take(files, path);
  return files;
}

const isSame = (one: Files, other: Files): boolean =>
  [...one].every(([path, content]) => stateOf(content) === stateOf(other.get(path)));

const stateOf = (content: string | Error | undefined): string =>
  content instanceof Error ? `error ${content.message}` : `text ${content}`;
