import { isRecord } from '@paddock/domain/pools/as-record';

type Mapping = Record<string, unknown>;

/** As Helm lays one file of values over another: mappings are merged, all else is replaced. */
export function merged(under: Mapping, over: Mapping): Mapping {
  const both = Object.entries(over).map(([key, value]) => {
    const before = under[key];
    return [key, isRecord(value) && isRecord(before) ? merged(before, value) : value] as const;
  });
  return { ...under, ...Object.fromEntries(both) };
}

export function withParameters(
  values: Mapping,
  parameters: readonly { readonly [key: string]: unknown }[],
): Mapping {
  const changed = structuredClone(values);
  for (const { name, value, forceString } of parameters) {
    if (typeof name !== 'string' || name.length > 1_000) continue;
    const steps = name
      .split(/(?<!\\)\.|(?=\[\d+\])/)
      .map((step) =>
        /^\[\d+\]$/.test(step) ? Number(step.slice(1, -1)) : step.replaceAll('\\', ''),
      );
    put(changed, steps, forceString === true ? String(value) : typed(value));
  }
  return changed;
}

function put(into: Mapping | unknown[], steps: readonly (string | number)[], value: unknown): void {
  const [step, next] = steps;
  // A list of the length that a typing error asks for would fill the memory.
  if (step === undefined || step === '__proto__' || Number(step) > 1_000) return;
  const holder = into as Record<string | number, unknown>;
  if (next === undefined) {
    holder[step] = value;
    return;
  }
  const there = holder[step];
  const inner: Mapping | unknown[] =
    typeof next === 'number' ? (Array.isArray(there) ? there : []) : isRecord(there) ? there : {};
  holder[step] = inner;
  put(inner, steps.slice(1), value);
}

function typed(value: unknown): unknown {
  if (value === 'true' || value === 'false') return value === 'true';
  if (value === 'null') return undefined;
  return typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
}
