import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

/** Throws as `readFileSync` does. */
export type ReadFile = (path: string) => string;

export const readText: ReadFile = (path) => readFileSync(path, 'utf8');

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
 * What some files say, read again while the service runs. Compares the whole files at every look:
 * Kubernetes replaces a mounted ConfigMap or Secret by switching a link, which file watchers miss and
 * modification times hide.
 */
export function createFileReading<T>({ read, onRefused, onAccepted }: FileReadingOptions<T>) {
  /** The files of the last reading. */
  let seen: Files | undefined;
  let refusal: string | undefined;

  async function hasChanged(before: Files): Promise<boolean> {
    const changed = readAgain(before);
    if (isDeepStrictEqual(changed, before)) return false;
    await sleep(SETTLED_AFTER_MS);
    return isDeepStrictEqual(readAgain(before), changed);
  }

  return {
    /** Why the files are refused as they are now, or undefined. */
    refusal: () => refusal,
    /** What the files say, if they have changed since the last look and are valid. Never rejects. */
    look: async (): Promise<T | undefined> => {
      if (seen !== undefined && !(await hasChanged(seen))) return undefined;
      const files: Files = new Map();
      const problems: string[] = [];
      const value = await read((path) => take(files, path), problems);
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

/** By path: `text` and the file's text, or `error` and why it could not be read. */
type Files = Map<string, string>;

function take(files: Files, path: string): string {
  try {
    const text = readText(path);
    files.set(path, `text ${text}`);
    return text;
  } catch (error) {
    files.set(path, `error ${String(error)}`);
    throw error;
  }
}

function readAgain(before: Files): Files {
  const files: Files = new Map();
  for (const path of before.keys()) {
    try {
      take(files, path);
    } catch {
      // That it cannot be read is the file's state.
    }
  }
  return files;
}
