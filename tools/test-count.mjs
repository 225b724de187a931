// Prints how many tests passed and failed, from vitest's JSON report, as the last line of a CI run.
import { readFile } from 'node:fs/promises';

const path = process.argv[2];
if (path === undefined) throw new Error('expected the path of a vitest JSON report');
const report = JSON.parse(await readFile(path, 'utf8'));
const suitesBroken = report.testResults.filter(
  (suite) => suite.status === 'failed' && suite.assertionResults.length === 0,
).length;
const skipped = report.numPendingTests + report.numTodoTests;
const line = `${report.numPassedTests} passed, ${report.numFailedTests + suitesBroken} failed`;
process.stdout.write(`${line}${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
