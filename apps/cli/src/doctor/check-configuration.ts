import { checkPools, remarksOf } from '../pools-check.ts';
import { type Finding, findingsOf } from '@paddock/api/findings/findings';

/** As `paddock pools check`. */
export function checkConfiguration(file: string): Finding[] {
  const { found, mend, remark } = findingsOf('configuration');
  const check = checkPools(file, undefined);
  mend(...check.problems);
  remark(...remarksOf(check));
  return found;
}
