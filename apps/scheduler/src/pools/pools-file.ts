import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { configFileToLoad } from '@paddock/domain/pools/config-file';
import type { PoolsDocument } from '@paddock/domain/pools/pools-document';
import { parseYaml } from '@paddock/runtime/yaml-file';

export interface PoolsFile {
  /**
   * The pools of the configuration file if it has changed since the last look and can be used, else
   * undefined. Never rejects.
   */
  look(): Promise<PoolsDocument | undefined>;
  /** Why the file as it is now is not used, for people, or undefined. */
  remark(): string | undefined;
}

export interface PoolsFileOptions {
  readonly path: string;
  /** Told once of each state of the file that cannot be used. */
  readonly onRefused: (problems: readonly string[]) => void;
  /** Told of each state that can, the first one included. */
  readonly onAccepted: () => void;
}

/** A file that somebody is just writing is left alone until it has been the same for so long. */
const SETTLED_AFTER_MS = 200;

/**
 * The pools part of the configuration file. It is read whole at every look: Kubernetes replaces a
 * mounted ConfigMap by turning a link to another folder, which file watchers miss, and in which
 * times say nothing. The file's other parts are read at the start only.
 */
export function createPoolsFile({ path, onRefused, onAccepted }: PoolsFileOptions): PoolsFile {
  let seen: string | undefined;
  let refusal: string | undefined;

  async function isSettled(key: string): Promise<boolean> {
    await sleep(SETTLED_AFTER_MS);
    return (await read(path)).key === key;
  }

  return {
    remark: () =>
      refusal === undefined ? undefined : `the configuration file is refused, the pools loaded before stay in force: ${refusal}`,
    look: async () => {
      const source = await read(path);
      if (source.key === seen) return undefined;
      if (seen !== undefined && !(await isSettled(source.key))) return undefined;
      seen = source.key;
      const { value, problems } =
        source.text === undefined ? { value: undefined, problems: [source.key] } : parseYaml(path, source.text, configFileToLoad);
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

/** The file's text, or why there is none; `key` tells one state of the file from another. */
async function read(path: string): Promise<{ readonly key: string; readonly text?: string }> {
  try {
    const text = await readFile(path, 'utf8');
    return { key: `text ${text}`, text };
  } catch (error) {
    return { key: `the configuration file ${path} cannot be read: ${error instanceof Error ? error.message : String(error)}` };
  }
}
