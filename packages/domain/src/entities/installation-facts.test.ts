import { describe, expect, test } from '@jest/globals';
import { installationEvent as event, instantAt } from '../scenes/installation-event.scene.ts';
import { type InstallationEvent, orderFacts } from './installation-facts.ts';

const created = event('installation.created', 0);
const deleted = event('installation.deleted', 90);

/** An event that GitHub dates at one minute, and that arrives in another. */
const arriving = (
  name: string,
  { stated, arrived, ...more }: { stated: number; arrived: number; guid?: string | null },
) => event(name, stated, { receivedAt: instantAt(arrived), ...more });

/** As `installation.suspend at 30`. */
const told = (events: readonly InstallationEvent[]) =>
  orderFacts(events).map(
    ({ event: name, at }) => `${name} at ${(Date.parse(at) - instantAt(0).getTime()) / 60_000}`,
  );

describe('the events of an installation (G3)', () => {
  test('come by GitHub’s instants, however late they arrive', () => {
    const suspend = arriving('installation.suspend', { stated: 30, arrived: 80 });
    const unsuspend = arriving('installation.unsuspend', { stated: 40, arrived: 41 });
    const expected = [
      'installation.created at 0',
      'installation.suspend at 30',
      'installation.unsuspend at 40',
      'installation.deleted at 90',
    ];
    expect(told([created, unsuspend, suspend, deleted])).toEqual(expected);
    expect(told([deleted, suspend, unsuspend, created])).toEqual(expected);
  });

  test('of one instant come by the first arrival of each delivery', () => {
    const on = arriving('installation.unsuspend', { stated: 60, arrived: 62 });
    const off = arriving('installation.suspend', { stated: 60, arrived: 61 });
    const again = { ...off, id: '9999', receivedAt: instantAt(63) };
    const expected = [
      'installation.created at 0',
      'installation.suspend at 60',
      'installation.unsuspend at 61',
    ];
    expect(told([again, on, off, created])).toEqual(expected);
    expect(told([created, off, on, again])).toEqual(expected);
  });

  test('of one instant and one arrival come by their rows', () => {
    const rows = Array.from({ length: 12 }, (_, row) => ({
      ...arriving(`installation_repositories.${row}`, { stated: 60, arrived: 61 }),
      id: String(row + 1),
    }));
    expect(orderFacts(rows.toReversed()).map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
  });

  test('have no instant of their own where the installation’s stays: then arrivals tell', () => {
    const first = arriving('installation_repositories.added', { stated: 0, arrived: 10 });
    const second = arriving('installation_repositories.removed', { stated: 0, arrived: 20 });
    const suspend = event('installation.suspend', 30);
    const late = arriving('installation_repositories.added', { stated: 0, arrived: 40 });
    const onTime = { ...created, receivedAt: instantAt(0) };
    expect(told([late, second, suspend, first, onTime])).toEqual([
      'installation.created at 0',
      'installation_repositories.added at 10',
      'installation_repositories.removed at 20',
      'installation_repositories.added at 30',
      'installation.suspend at 30',
    ]);
  });

  test('begin with the creation and end with the deletion, even if these arrive otherwise', () => {
    const added = arriving('installation_repositories.added', { stated: 0, arrived: 10 });
    const suspend = arriving('installation.suspend', { stated: 30, arrived: 30 });
    const gone = arriving('installation.deleted', { stated: 0, arrived: 70 });
    const late = { ...created, receivedAt: instantAt(80) };
    const expected = [
      'installation.created at 0',
      'installation_repositories.added at 0',
      'installation.suspend at 30',
      'installation.deleted at 70',
    ];
    expect(told([gone, suspend, added, late])).toEqual(expected);
    expect(told([late, added, suspend, gone])).toEqual(expected);
  });

  test('are dated by their arrival where GitHub says nothing', () => {
    const plain = { ...arriving('installation.suspend', { stated: 0, arrived: 50 }), payload: {} };
    expect(told([plain, created])).toEqual([
      'installation.created at 0',
      'installation.suspend at 50',
    ]);
  });

  test('are dated by the renamed account where it alone has an instant', () => {
    const account = { login: 'acme-new', updated_at: instantAt(50).toISOString() };
    const renamed = event('installation_target.renamed', 80, { installation: { id: 1 }, account });
    expect(told([renamed])).toEqual(['installation_target.renamed at 50']);
  });

  test('without a GUID are each their own', () => {
    const added = [10, 20].map((minute) =>
      event('installation_repositories.added', minute, { guid: null }),
    );
    expect(orderFacts(added)).toHaveLength(2);
  });
});
