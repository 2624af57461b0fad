import type { Named } from '@paddock/api/find/find';

/** Which command shows it. */
export function commandFor({ kind, id, name }: Named): string {
  switch (kind) {
    case 'job':
      return `why ${id}`;
    case 'run':
      return 'why ADDRESS';
    case 'repository':
    case 'entity':
      return `diagnose ${name ?? id}`;
    case 'pool':
      return 'pools';
    case 'event':
      return `trace payload ${id}`;
    case 'worker':
    case 'operation':
    case 'delivery':
    case 'installation':
      return `${kind} ${id}`;
    default:
      return kind satisfies never;
  }
}
