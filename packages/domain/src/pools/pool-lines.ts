import { hideSecrets } from '../text/hide-secrets.ts';
import { asRecord, isRecord } from './as-record.ts';

/** The value without each text that looks like a credential, also by its variable's name. */
export function withoutSecrets(value: unknown, variable?: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => withoutSecrets(one));
  if (isRecord(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [
        key,
        withoutSecrets(one, key === 'value' ? value['name'] : undefined),
      ]),
    );
  const text = `${JSON.stringify(variable)}=${String(value)}`;
  return typeof value === 'string' && hideSecrets(text) !== text ? '[hidden]' : value;
}

/**
 * The lines of a pool, as `template.spec.containers[runner].image: runner:1`. Elements of lists go by
 * their name, if they have one. What is null is not there.
 */
export function linesOf(value: unknown, key = ''): string[] {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value) && value.some(isRecord))
    return value.flatMap((one, n) => {
      const { name = n } = asRecord(one);
      return linesOf(one, `${key}[${typeof name === 'string' ? name : n}]`);
    });
  if (isRecord(value))
    return Object.entries(value).flatMap(([name, one]) =>
      linesOf(one, key ? `${key}.${name}` : name),
    );
  return [`${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`];
}

/** What another version of the file changed of a pool: lines that are gone with `-`, new ones with `+`. */
export function changesOf(before: unknown, after: unknown): string[] {
  if (before === null || after === null) return [before === null ? '+ the pool' : '- the pool'];
  const [was, is] = [before, after].map((pool) => linesOf(withoutSecrets(pool)));
  const lines = [
    ...(was ?? []).filter((line) => !is?.includes(line)).map((line) => `- ${line}`),
    ...(is ?? []).filter((line) => !was?.includes(line)).map((line) => `+ ${line}`),
  ];
  return lines.length === 0 ? ['a value that is hidden'] : lines;
}
