import { configFileToLoad } from '@paddock/domain/pools/config-file';
import type { PoolsDocument } from '@paddock/domain/pools/pools-document';
import { createFileReading, type FileReadingOptions } from '@paddock/runtime/file-reading';
import { readYamlFile } from '@paddock/runtime/yaml-file';

export interface PoolsFile {
  /**
   * The pools of the configuration file if it has changed since the last check and is valid, else
   * undefined. Never rejects.
   */
  look(): Promise<PoolsDocument | undefined>;
  /** Why the current file is refused, as a sentence for people, or undefined. */
  warning(): string | undefined;
}

export interface PoolsFileOptions extends Pick<
  FileReadingOptions<PoolsDocument>,
  'onRefused' | 'onAccepted'
> {
  readonly path: string;
}

/** Reads the pools of the configuration file. `followKeys` reads its Apps. */
export function createPoolsFile({ path, ...on }: PoolsFileOptions): PoolsFile {
  const { look, refusal } = createFileReading<PoolsDocument>({
    read: (readFile, problems) => {
      const file = readYamlFile(path, configFileToLoad, readFile);
      problems.push(...file.problems);
      return file.value && { pools: file.value.pools, entities: file.value.entities };
    },
    ...on,
  });
  return {
    look,
    warning: () => {
      const why = refusal();
      return why === undefined
        ? undefined
        : `the configuration file is refused, the pools loaded before stay in force: ${why}`;
    },
  };
}
