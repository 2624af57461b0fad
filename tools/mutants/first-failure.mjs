// Jest's reporter for runs of `pnpm mutants`: prints one JSON object and ends the run at the first
// failure, which decides.
export default class FirstFailure {
  #ran = new Set();

  onTestCaseResult(file, { status, fullName, failureMessages }) {
    if (status === 'passed') this.#ran.add(file.path);
    if (status === 'failed') end({ failed: fullName, message: failureMessages[0] ?? '' });
  }

  onTestResult(_file, { testExecError, failureMessage }) {
    if (testExecError) end({ unloaded: failureMessage ?? String(testExecError.message) });
  }

  onRunComplete() {
    console.log(JSON.stringify({ ran: [...this.#ran] }));
  }
}

function end(outcome) {
  console.log(JSON.stringify(outcome));
  process.exit(1);
}
