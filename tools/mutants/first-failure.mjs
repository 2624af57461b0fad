// Jest's reporter for runs of `pnpm mutants`: prints one JSON object and ends the run at the first
// failure, which decides.
import { writeSync } from 'node:fs';

/** Characters of a message that are passed on: its beginning says why the test failed. */
const LONGEST = 4_000;

export default class FirstFailure {
  #ran = new Set();

  onTestCaseResult(file, { status, fullName, failureMessages }) {
    if (status === 'passed') this.#ran.add(file.path);
    if (status === 'failed')
      end({ failed: fullName, message: (failureMessages[0] ?? '').slice(0, LONGEST) });
  }

  onTestResult(_file, { testExecError, failureMessage }) {
    if (testExecError)
      end({ unloaded: (failureMessage ?? String(testExecError.message)).slice(0, LONGEST) });
  }

  onRunComplete() {
    console.log(JSON.stringify({ ran: [...this.#ran] }));
  }
}

/** Writes before the process ends: `process.exit` may cut a `console.log` to a pipe short. */
function end(outcome) {
  writeSync(1, `${JSON.stringify(outcome)}\n`);
  process.exit(1);
}
