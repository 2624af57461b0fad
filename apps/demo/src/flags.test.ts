import { describe, expect, test } from '@jest/globals';
import { readFlags } from './flags.ts';
import { planJobs } from './scenario.ts';

describe('the command line', () => {
  test('has defaults, and ignores a `--` from a package runner', () => {
    expect(readFlags(['--'])).toEqual({
      flags: { jobs: 50, loss: 0, keep: false, tour: false, json: false, cluster: 'simulated' },
    });
  });

  test('sets every option', () => {
    const argv = ['--jobs', '7', '--loss=0.25', '--keep', '--json', '--cluster', 'real'];
    expect(readFlags(argv, 'kubeconfig')).toEqual({
      flags: { jobs: 7, loss: 0.25, keep: true, tour: false, json: true, cluster: 'real' },
    });
  });

  test('stays up after the tour', () => {
    expect(readFlags(['--tour'])).toMatchObject({ flags: { tour: true, keep: true } });
  });

  test.each([
    [
      ['--tour', '--cluster=real'],
      '--tour needs the simulated cluster: a real one does not fail as asked',
    ],
    [['--cluster=real'], '--cluster real needs KUBECONFIG: the file that names the cluster'],
    [['--jobs', '0'], '--jobs must be a whole number from 1 to 10000, not 0'],
    [['--jobs', '1.5'], '--jobs must be a whole number from 1 to 10000, not 1.5'],
    [['--loss', '1'], '--loss must be a number from 0 to 0.9, not 1'],
  ])('%j is refused', (argv, problem) => {
    const kubeconfigFile = argv.includes('--tour') ? 'kubeconfig' : undefined;
    expect(readFlags(argv, kubeconfigFile)).toEqual({ problems: [problem] });
  });

  test('reports several problems at once, and unknown flags', () => {
    expect(readFlags(['--jobs', 'x', '--loss', 'y'])).toMatchObject({
      problems: [expect.any(String), expect.any(String)],
    });
    expect(readFlags(['--job', '5'])).toMatchObject({
      problems: [expect.stringContaining('--job')],
    });
  });
});

test.each([1, 9, 10, 50, 333])('plans %i jobs in all, re-runs included', (count) => {
  const plan = planJobs(count);
  expect(plan.length + plan.filter((job) => job.rerun).length).toBe(count);
});
