import { signal } from '@preact/signals';

const KEPT_AS = 'paddock-zone';

/** Instants are shown in the browser’s own zone, and not in UTC. */
export const isLocal = signal(false);

/** As it stands beside an instant. */
export const zoneName = (): string => (isLocal.value ? 'local time' : 'UTC');

export function readZone(): void {
  isLocal.value = localStorage.getItem(KEPT_AS) === 'local';
}

export function switchZone(): void {
  isLocal.value = !isLocal.value;
  localStorage.setItem(KEPT_AS, isLocal.value ? 'local' : 'utc');
}
