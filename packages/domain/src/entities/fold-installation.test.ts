import { describe, expect, test } from '@jest/globals';
import { foldInstallation, type InstallationEvent } from './fold-installation.ts';

const instant = (minute: number) => new Date(Date.parse('2026-01-31T09:00:00Z') + minute * 60_000);
const END = instant(1_000);

let last = 0;
/** An event that GitHub dates at `minute`, and that arrives a second later. */
function event(
  name: string,
  minute: number,
  {
    guid,
    receivedAt,
    ...payload
  }: Record<string, unknown> & { guid?: string; receivedAt?: Date } = {},
): InstallationEvent {
  last += 1;
  return {
    id: String(last),
    event: name,
    guid: guid ?? `guid-${last}`,
    receivedAt: receivedAt ?? new Date(instant(minute).getTime() + 1_000),
    payload: {
      installation: { account: { login: 'acme' }, updated_at: instant(minute).toISOString() },
      ...payload,
    },
  };
}
const repositories = (...names: string[]) =>
  names.map((name) => ({ id: name.charCodeAt(0), full_name: `acme/${name}` }));
const selected = { repository_selection: 'selected' };
const stateOf = (events: readonly InstallationEvent[], until = END) =>
  foldInstallation(events, until).state;

const created = event('installation.created', 0, {
  ...selected,
  repositories: repositories('a', 'b'),
});
const added = event('installation_repositories.added', 10, {
  ...selected,
  repositories_added: repositories('c'),
});
const removed = event('installation_repositories.removed', 20, {
  ...selected,
  repositories_removed: repositories('a'),
});
const suspend = event('installation.suspend', 30);
const unsuspend = event('installation.unsuspend', 40);
const deleted = event('installation.deleted', 50);
const ALL = [created, added, removed, suspend, unsuspend, deleted];

describe('the state of an installation at a time (G3)', () => {
  test.each([
    [-1, 'unknown', null, [], []],
    [5, 'installed', 0, ['acme/a', 'acme/b'], []],
    [15, 'installed', 0, ['acme/a', 'acme/b', 'acme/c'], []],
    [25, 'installed', 0, ['acme/b', 'acme/c'], ['acme/a']],
    [35, 'suspended', 30, ['acme/b', 'acme/c'], ['acme/a']],
    [45, 'installed', 40, ['acme/b', 'acme/c'], ['acme/a']],
    [55, 'deleted', 50, [], ['acme/a']],
  ] as const)('after %i minutes', (minute, status, since, names, gone) => {
    expect(stateOf(ALL, instant(minute))).toMatchObject({
      status,
      since: since === null ? null : instant(since).toISOString(),
      repositories: names,
      removed: gone,
      isComplete: minute >= 0,
    });
  });

  test('is the same in whatever order events arrive, and however often', () => {
    const expected = foldInstallation(ALL, END);
    expect(foldInstallation(ALL.toReversed(), END)).toEqual(expected);
    const late = ALL.map((one) => ({ ...one, receivedAt: instant(900) }));
    expect(stateOf([...late, ...ALL])).toEqual(expected.state);
  });

  test('orders events of one instant by the first arrival of each delivery', () => {
    const on = event('installation.unsuspend', 60, { guid: 'on', receivedAt: instant(62) });
    const off = event('installation.suspend', 60, { guid: 'off', receivedAt: instant(61) });
    const again = { ...off, id: '99', receivedAt: instant(63) };
    expect(stateOf([created, again, on, off]).status).toBe('installed');
  });

  test('without its beginning is unknown, and lists what it knows as incomplete', () => {
    expect(stateOf([added])).toMatchObject({
      status: 'installed',
      since: null,
      repositories: ['acme/c'],
      isComplete: false,
    });
    expect(stateOf([])).toMatchObject({ status: 'unknown', isComplete: false });
    const paused = event('installation_repositories.added', 1, {
      installation: { suspended_at: instant(0).toISOString() },
    });
    expect(stateOf([paused])).toMatchObject({ status: 'suspended', since: null });
  });

  test('has every repository while all are selected, and forgets which when some are', () => {
    const all = event('installation_repositories.added', 60, { repository_selection: 'all' });
    expect(stateOf([added, all])).toMatchObject({ selection: 'all', isComplete: true });
    const some = event('installation_repositories.removed', 70, {
      ...selected,
      repositories_removed: repositories('z'),
    });
    expect(stateOf([created, all, some])).toMatchObject({
      selection: 'selected',
      isComplete: false,
    });
  });

  test('has the login of the newest event', () => {
    const renamed = event('installation_target.renamed', 60, {
      installation: { id: 1 },
      account: { login: 'acme-new', updated_at: instant(60).toISOString() },
    });
    expect(stateOf([created, renamed]).login).toBe('acme-new');
    expect(stateOf([created, renamed], instant(59)).login).toBe('acme');
  });

  test.each([null, 7, 'x', [], {}, { installation: 7, repositories: [{ id: 'x' }] }])(
    'takes the payload %j, which says nothing',
    (payload) => {
      expect(stateOf([created, { ...added, payload }])).toEqual(stateOf([created]));
    },
  );
});
