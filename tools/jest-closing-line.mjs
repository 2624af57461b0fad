// Names every skipped test and ends the run with one plain line: `N passed, N failed, N skipped`.
export default class ClosingLine {
  onRunComplete(_contexts, results) {
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.testResults.flatMap((file) =>
      file.testResults.filter((test) => test.status === 'pending' || test.status === 'todo'),
    );
    process.once('exit', () => {
      for (const test of skipped) console.log(`skipped: ${test.fullName}`);
      console.log(`${results.numPassedTests} passed, ${failed} failed, ${skipped.length} skipped`);
    });
  }
}
