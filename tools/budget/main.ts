// Fails if anything that budget.json bounds is above its bound. With --write, notes what each folder
// has today, so that it can name what grows.
import { readFileSync, writeFileSync } from 'node:fs';
import { type Budget, recounted, overruns, countAll } from './count.ts';

const FILE = 'budget.json';
const budget = JSON.parse(readFileSync(FILE, 'utf8')) as Budget;
const counts = countAll();

const above = overruns(budget, counts);
for (const sentence of above) process.stderr.write(`${sentence}\n`);
if (above.length > 0) {
  process.stderr.write(
    `Make it smaller, or raise the bound in ${FILE} and say why in the commit.\n`,
  );
  process.exitCode = 1;
} else if (process.argv.includes('--write'))
  writeFileSync(FILE, `${JSON.stringify(recounted(budget, counts), undefined, 2)}\n`);
