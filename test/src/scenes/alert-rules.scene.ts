import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHART } from '@paddock/testing/render-chart';
import { parse } from 'yaml';

/** A rule of Prometheus: an alert, or a recorded series. */
export interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface RuleFile {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
}

export const RULES_FILE = join(CHART, 'files/alerts.yaml');
export const RULES = parse(readFileSync(RULES_FILE, 'utf8')) as RuleFile;

export const rulesOf = ({ groups }: RuleFile): Rule[] => groups.flatMap(({ rules }) => rules);
