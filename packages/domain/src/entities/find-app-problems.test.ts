import { describe, expect, test } from '@jest/globals';
import { type AppToCheck, findAppProblems } from './find-app-problems.ts';

const well: AppToCheck = {
  permissions: {
    actions: 'read',
    administration: 'write',
    organization_self_hosted_runners: 'write',
    metadata: 'read',
  },
  events: ['workflow_job', 'push'],
  onOrganizations: true,
  onUsers: true,
  atRepositories: false,
};
const without = (name: string): AppToCheck => ({
  ...well,
  permissions: { ...well.permissions, [name]: 'none' },
});

describe('findAppProblems (H4)', () => {
  test.each<[string, AppToCheck, string[]]>([
    ['nothing', well, []],
    ['the subscription', { ...well, events: ['push'] }, ['workflow_job']],
    ['actions', without('actions'), ['actions: read']],
    [
      'an organisation’s runners',
      without('organization_self_hosted_runners'),
      ['organization_self_hosted_runners: write'],
    ],
    [
      'those, where there is no organisation',
      { ...without('organization_self_hosted_runners'), onOrganizations: false },
      [],
    ],
    ['administration', without('administration'), ['administration: write']],
    ['that, where there is no user', { ...without('administration'), onUsers: false }, []],
    [
      'that, where an organisation’s pool registers at repositories',
      { ...without('administration'), onUsers: false, atRepositories: true },
      ['administration: write, without which no runner of a pool with `registration: repository`'],
    ],
    [
      'nothing, where an organisation’s pool registers at repositories',
      { ...well, onUsers: false, atRepositories: true },
      [],
    ],
    [
      'that, where such a pool has no organisation',
      {
        ...without('administration'),
        onOrganizations: false,
        onUsers: false,
        atRepositories: true,
      },
      [],
    ],
    [
      'all but reading',
      { ...well, permissions: { actions: 'write', administration: 'read' } },
      ['organization_self_hosted_runners', 'administration'],
    ],
    [
      'everything',
      { ...well, permissions: {}, events: [] },
      ['workflow_job', 'actions', 'organization_self_hosted_runners', 'administration'],
    ],
  ])('lacking %s', (_name, app, problems) => {
    expect(findAppProblems(app)).toEqual(
      problems.map((problem) => expect.stringContaining(problem)),
    );
  });
});
