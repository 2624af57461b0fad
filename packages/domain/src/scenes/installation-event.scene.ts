import type { InstallationEvent } from '../entities/installation-facts.ts';

/** So many minutes after the installation. */
export const instantAt = (minute: number): Date =>
  new Date(Date.parse('2026-01-31T09:00:00Z') + minute * 60_000);

let last = 0;

/** An event that GitHub dates at `minute`, and that arrives a second later unless it is said when. */
export function installationEvent(
  name: string,
  minute: number,
  {
    guid,
    receivedAt,
    ...payload
  }: Record<string, unknown> & { guid?: string | null; receivedAt?: Date } = {},
): InstallationEvent {
  last += 1;
  return {
    id: String(last),
    event: name,
    guid: guid === undefined ? `guid-${last}` : guid,
    receivedAt: receivedAt ?? new Date(instantAt(minute).getTime() + 1_000),
    payload: {
      installation: { account: { login: 'acme' }, updated_at: instantAt(minute).toISOString() },
      ...payload,
    },
  };
}
