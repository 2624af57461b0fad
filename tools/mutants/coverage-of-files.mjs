// Jest's reporter for `tools/mutants/coverage.ts`: writes what each test file runs of the product's
// code, one JSON object a line, into the file that PADDOCK_COVERAGE_FILE names.
import { appendFileSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const PRODUCT =
  /^(apps|packages)\/(?!testing|simulators|embedded-postgres|processes)[^/]+\/src\/(?!.*\.(test|scene)\.ts$)/;

/** Where something of its own can run: the begin of a line, and what follows a choice. */
const PLACES = /^[ \t]*\S|(?:\?|:|&&|\|\||=>)\s*\S/gm;

export default class CoverageOfFiles {
  onTestResult(test, result) {
    const ran = {};
    for (const { result: script } of result.v8Coverage ?? []) {
      const url = script.url.startsWith('file:') ? fileURLToPath(script.url) : script.url;
      const file = relative(process.cwd(), url);
      if (PRODUCT.test(file)) ran[file] = ranIn(url, script.functions);
    }
    const line = { test: relative(process.cwd(), test.path), failed: result.numFailingTests, ran };
    appendFileSync(process.env.PADDOCK_COVERAGE_FILE, `${JSON.stringify(line)}\n`);
  }
}

/** The places of a source that ran. Inner ranges come after the ones around them. */
function ranIn(path, functions) {
  const ranges = functions.flatMap((each) => each.ranges);
  return placesOf(path).filter((place) => {
    const around = ranges.filter(
      ({ startOffset, endOffset }) => startOffset <= place && place < endOffset,
    );
    const inmost = around.toSorted((one, other) => width(one) - width(other))[0];
    return inmost !== undefined && inmost.count > 0;
  });
}

const width = ({ startOffset, endOffset }) => endOffset - startOffset;

const placesOf = (path) =>
  [...readFileSync(path, 'utf8').matchAll(PLACES)].map(
    (match) => match.index + match[0].length - 1,
  );
