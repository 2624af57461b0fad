import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { configFileToLoad } from '@paddock/domain/pools/config-file';
import type { PoolsDocument } from '@paddock/domain/pools/pools-document';
import { parseYaml } from '@paddock/runtime/yaml-file';

export interface PoolsFile {
  /**
   * The pools of the configuration file if it has changed since the last check and is valid, else
   * undefined. Never rejects.
   */
  look(): Promise<PoolsDocument | undefined>;
  /** Why the current file is refused, as a sentence for people, or undefined. */
  warning(): string | undefined;
}

export interface PoolsFileOptions {
  readonly path: string;
  /** Called once for each state of the file that is refused. */
  readonly onRefused: (problems: readonly string[]) => void;
  /** Called for each state that is accepted, the first included. */
  readonly onAccepted: () => void;
}

/** A file must have been the same for this long: an editor may still be writing it. */
const SETTLED_AFTER_MS = 200;

/**
 * Reads the pools of the configuration file, whole at every check. Kubernetes replaces a mounted
 * ConfigMap by switching a link, which file watchers miss and modification times hide. Only the
 * start reads the other parts of the file.
 */
export function createPoolsFile({ path, onRefused, onAccepted }: PoolsFileOptions): PoolsFile {
  let seen: string | undefined;
  let refusal: string | undefined;

  async function isSettled(key: string): Promise<boolean> {
    await sleep(SETTLED_AFTER_MS);
    return (await read(path)).key === key;
  }

  return {
    warning: () =>
      refusal === undefined
        ? undefined
        : `the configuration file is refused, the pools loaded before stay in force: ${refusal}`,
    look: async () => {
      const source = await read(path);
      if (source.key === seen) return undefined;
      if (seen !== undefined && !(await isSettled(source.key))) return undefined;
      seen = source.key;
      const { value, problems } =
        source.text === undefined
          ? { value: undefined, problems: [source.key] }
          : parseYaml(path, source.text, configFileToLoad);
      if (value === undefined) {
        refusal = problems.join('; ');
        onRefused(problems);
        return undefined;
      }
      refusal = undefined;
      onAccepted();
      return { pools: value.pools, entities: value.entities };
    },
  };
}

/** The file's text, or why it cannot be read; `key` distinguishes states of the file. */
async function read(path: string): Promise<{ readonly key: string; readonly text?: string }> {
  try {
    const text = await readFile(path, 'utf8');
    return { key: `text ${text}`, text };
  } catch (error) {
    return {
      key: `the configuration file ${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}
