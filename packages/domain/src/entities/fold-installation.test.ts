import { describe, expect, test } from '@jest/globals';
import {
  installationEvent as event,
  instantAt as instant,
} from '../scenes/installation-event.scene.ts';
import { foldInstallation } from './fold-installation.ts';
import type { InstallationEvent } from './installation-facts.ts';

const END = instant(1_000);

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
const renamed = event('installation_target.renamed', 60, {
  installation: { id: 1 },
  account: { login: 'acme-new', updated_at: instant(60).toISOString() },
});
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

  test('has the steps that made it', () => {
    expect(foldInstallation(ALL, instant(20)).steps).toEqual(
      [created, added, removed].map(({ id, event: name }, step) => ({
        id,
        event: name,
        at: instant(step * 10).toISOString(),
      })),
    );
  });

  test('is the same in whatever order events arrive, and however often', () => {
    const expected = foldInstallation(ALL, END);
    expect(foldInstallation(ALL.toReversed(), END)).toEqual(expected);
    const late = ALL.map((one) => ({ ...one, receivedAt: instant(900) }));
    expect(stateOf([...late, ...ALL])).toEqual(expected.state);
    expect(stateOf([...late, ...ALL], instant(25))).toEqual(stateOf(ALL, instant(25)));
  });

  test('counts from the newest of two suspensions, as an end between them is lost', () => {
    const again = event('installation.suspend', 60);
    expect(stateOf([created, suspend, again]).since).toBe(instant(60).toISOString());
  });

  test('stays suspended whatever else happens', () => {
    expect(stateOf([created, suspend, event('installation_repositories.added', 60)])).toMatchObject(
      { status: 'suspended', since: instant(30).toISOString() },
    );
  });

  test('has a repository that was added again', () => {
    const again = event('installation_repositories.added', 60, {
      ...selected,
      repositories_added: repositories('a'),
    });
    expect(stateOf([created, removed, again])).toMatchObject({
      repositories: ['acme/a', 'acme/b'],
      removed: [],
    });
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

  test('has every repository after a renaming, which says nothing of them', () => {
    const all = event('installation.created', 0, { repository_selection: 'all' });
    expect(stateOf([all, renamed])).toMatchObject({ selection: 'all', isComplete: true });
  });

  test('reads the selection from the installation where the event has none', () => {
    const accepted = event('installation.new_permissions_accepted', 60, {
      installation: { repository_selection: 'all', updated_at: instant(60).toISOString() },
    });
    expect(stateOf([created, accepted])).toMatchObject({ selection: 'all', isComplete: true });
  });

  test('has the login of the newest event', () => {
    expect(stateOf([created, renamed]).login).toBe('acme-new');
    expect(stateOf([created, renamed], instant(59)).login).toBe('acme');
  });

  test.each([null, 7, 'x', [], {}, { installation: 7, repositories: [{ id: 'x' }] }])(
    'takes the payload %j, which says nothing',
    (payload) => {
      expect(stateOf([{ ...added, payload }])).toStrictEqual({
        status: 'installed',
        since: null,
        login: null,
        selection: null,
        repositories: [],
        removed: [],
        isComplete: false,
      });
    },
  );
});
