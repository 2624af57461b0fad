import { describe, expect, test } from '@jest/globals';
import {
  compareInstallations,
  type KnownInstallation,
  type ListedInstallation,
} from './compare-installations.ts';

const listed: ListedInstallation = {
  installationId: 7,
  entityId: 1,
  login: 'acme',
  selection: 'all',
  isSuspended: false,
};
const known: KnownInstallation = { ...listed, isDeleted: false };

describe('compareInstallations (A12)', () => {
  test.each<[string, Partial<ListedInstallation>, Partial<KnownInstallation> | undefined, boolean]>(
    [
      ['as we know it', {}, {}, false],
      ['unknown', {}, undefined, true],
      ['renamed', { login: 'acme-inc' }, {}, true],
      ['suspended', { isSuspended: true }, {}, true],
      ['given other repositories', { selection: 'selected' }, {}, true],
      ['with an unknown selection', {}, { selection: null }, true],
      ['installed again', { installationId: 8 }, {}, true],
      ['installed again after a deletion', { installationId: 8 }, { isDeleted: true }, true],
      ['deleted since it was listed', { login: 'acme-inc' }, { isDeleted: true }, false],
      ['replaced since it was listed', {}, { installationId: 8, login: 'other' }, false],
    ],
  )('%s', (_name, says, row, isNews) => {
    const { changed } = compareInstallations(
      [{ ...listed, ...says }],
      row === undefined ? [] : [{ ...known, ...row }],
    );
    expect(changed).toHaveLength(isNews ? 1 : 0);
  });

  test('an installation that is not listed is to be asked about, unless we know that it is gone', () => {
    const rows = [
      known,
      { ...known, entityId: 2, installationId: 9 },
      { ...known, entityId: 3, installationId: 10, isDeleted: true },
    ];
    expect(compareInstallations([listed], rows).unlisted).toEqual([rows[1]]);
  });
});
