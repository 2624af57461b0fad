import { globSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { INSTRUMENTER_CONSTANTS, type InstrumenterContext } from '@stryker-mutator/api/core';
import { PluginKind } from '@stryker-mutator/api/plugin';
import {
  type DryRunResult,
  DryRunStatus,
  type MutantRunOptions,
  type MutantRunResult,
  MutantRunStatus,
  type TestResult,
  type TestRunner,
  TestStatus,
  determineHitLimitReached,
  toMutantRunResult,
} from '@stryker-mutator/api/test-runner';
import { createLoader } from './load-tests.ts';

const DOMAIN = join(import.meta.dirname, '../../../packages/domain/src');

/** The mutated code and its runner share this object. */
const context: InstrumenterContext = {};
Object.assign(globalThis, { [INSTRUMENTER_CONSTANTS.NAMESPACE]: context });

/**
 * Runs the domain's tests for Stryker, without Jest: these tests are plain functions, and starting
 * Jest takes longer than running all of them.
 */
class DomainTests implements TestRunner {
  readonly #load = createLoader(DOMAIN);
  readonly #files = globSync(join(DOMAIN, '**/*.test.ts')).toSorted();
  /** By test file: the URLs of its imports. */
  readonly #imports = new Map<string, ReadonlySet<string>>();

  capabilities(): { reloadEnvironment: boolean } {
    return { reloadEnvironment: true };
  }

  async init(): Promise<void> {
    for (const file of this.#files) this.#imports.set(file, (await this.#load(file)).imports);
  }

  async dryRun(): Promise<DryRunResult> {
    const mutantCoverage = { static: {}, perTest: {} };
    context.mutantCoverage = mutantCoverage;
    const tests = await this.#run({
      files: this.#files,
      isWanted: () => true,
      untilFailure: false,
    });
    return { status: DryRunStatus.Complete, tests, mutantCoverage };
  }

  async mutantRun({
    activeMutant,
    mutantActivation,
    testFilter,
    sandboxFileName,
    hitLimit,
  }: MutantRunOptions): Promise<MutantRunResult> {
    const mutated = pathToFileURL(sandboxFileName).href;
    const wanted = testFilter && new Set(testFilter);
    const files = testFilter
      ? this.#files.filter((file) => testFilter.some((id) => id.startsWith(idOf(file, ''))))
      : this.#files.filter((file) => this.#imports.get(file)?.has(mutated));
    Object.assign(context, { hitCount: hitLimit === undefined ? undefined : 0, hitLimit });
    try {
      const tests = await this.#run({
        files,
        isWanted: (id) => wanted?.has(id) ?? true,
        untilFailure: true,
        whileLoading: mutantActivation === 'static' ? activeMutant.id : undefined,
        whileRunning: activeMutant.id,
      });
      return toMutantRunResult(
        determineHitLimitReached(context.hitCount, hitLimit) ?? {
          status: DryRunStatus.Complete,
          tests,
        },
      );
    } catch (error) {
      return { status: MutantRunStatus.Error, errorMessage: String(error) };
    } finally {
      activate(undefined);
    }
  }

  /** Rejects if a file does not load, unless another one has a test that fails. */
  async #run({
    files,
    isWanted,
    untilFailure,
    whileLoading,
    whileRunning,
  }: Wanted): Promise<TestResult[]> {
    const results: TestResult[] = [];
    const unloaded: unknown[] = [];
    for (const file of files) {
      activate(whileLoading);
      const { tests } = await this.#load(file).catch(
        (error: unknown) => (unloaded.push(error), { tests: [] }),
      );
      activate(whileRunning);
      for (const { name, run } of tests) {
        const id = idOf(file, name);
        if (!isWanted(id)) continue;
        Object.assign(context, { currentTestId: id });
        const result = await runTest(id, run);
        Object.assign(context, { currentTestId: undefined });
        results.push({ ...result, fileName: file });
        if (untilFailure && result.status === TestStatus.Failed) return results;
      }
    }
    if (unloaded.length > 0) throw unloaded[0];
    return results;
  }
}

interface Wanted {
  readonly files: readonly string[];
  readonly isWanted: (id: string) => boolean;
  readonly untilFailure: boolean;
  /** Ids of the mutants that are active meanwhile. */
  readonly whileLoading?: string | undefined;
  readonly whileRunning?: string | undefined;
}

const activate = (mutant: string | undefined): void =>
  void Object.assign(context, { activeMutant: mutant });

const idOf = (file: string, name: string): string => `${relative(DOMAIN, file)}: ${name}`;

async function runTest(id: string, run: () => unknown): Promise<TestResult> {
  const began = performance.now();
  const failureMessage = await outcomeOf(run);
  const result = { id, name: id, timeSpentMs: performance.now() - began };
  return failureMessage === undefined
    ? { ...result, status: TestStatus.Success }
    : { ...result, status: TestStatus.Failed, failureMessage };
}

async function outcomeOf(run: () => unknown): Promise<string | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    return String(error);
  }
}

export const strykerPlugins = [
  { kind: PluginKind.TestRunner, name: 'domain', injectableClass: DomainTests },
];
