import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Declarations } from '@paddock/runtime/settings';
import { parse } from 'yaml';
import { settings as consoleSettings } from '../../apps/console/src/settings.ts';
import { leastFor, settings as ingress } from '../../apps/ingress/src/settings.ts';
import { ingressRules } from '../../apps/ingress/src/rules.ts';
import { settings as migrate } from '../../apps/migrate/src/settings.ts';
import { settings as reconciler } from '../../apps/reconciler/src/settings.ts';
import { settings as scheduler } from '../../apps/scheduler/src/settings.ts';
import { helmValuesSchema } from './values-schema.ts';

export const PROGRAMS: Readonly<Record<string, Declarations>> = {
  ingress,
  scheduler,
  reconciler,
  'db:migrate': migrate,
  console: consoleSettings,
};

const DEPLOYED = join(import.meta.dirname, '../../deploy/helm');

const { writers, maxBodyBytes } = ingressRules;
const least = leastFor({ writers: writers.value, maxBodyBytes: maxBodyBytes.value });

export const CHART_SCHEMA = helmValuesSchema(
  parse(readFileSync(join(DEPLOYED, 'paddock/values.yaml'), 'utf8')) as object,
  Object.values(PROGRAMS),
  { [ingress.poolSize.env]: least.poolSize, [ingress.maxHeldBytes.env]: least.maxHeldBytes },
);

/**
 * Writes the schema where Helm reads it. Tests that run side by side all do, so the file changes in
 * one step, and only if it must.
 */
export function writeChartSchema(): void {
  const path = join(DEPLOYED, 'paddock/values.schema.json');
  const text = `${JSON.stringify(CHART_SCHEMA, undefined, 2)}\n`;
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return;
  const beside = join(DEPLOYED, `values.schema.${process.pid}.log`);
  writeFileSync(beside, text);
  renameSync(beside, path);
}
