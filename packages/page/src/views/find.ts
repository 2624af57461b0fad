import type { Found } from '../answers.ts';

/** Where on the page something is that was found. */
export function placeOf({ kind, id, name }: Found): string {
  const part = encodeURIComponent(id);
  switch (kind) {
    case 'run':
      return `/runs/${part}?owner=${encodeURIComponent(name ?? '')}`;
    case 'repository':
      return `/jobs?repository=${encodeURIComponent(name ?? id)}`;
    case 'entity':
      return `/trace/entity/${part}`;
    case 'event':
      return `/trace/payload/${part}`;
    case 'delivery':
      return `/deliveries/${part}`;
    case 'job':
    case 'worker':
    case 'operation':
    case 'pool':
    case 'installation':
      return `/${kind}s/${part}`;
    default:
      return kind satisfies never;
  }
}
