import { spawnSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import { HELM, helmTemplate, onPath } from '@paddock/testing/render-chart';
import { EXAMPLES, MATRIX } from '../scenes/chart-releases.scene.ts';

interface Scored {
  readonly object_name: string;
  readonly checks: readonly {
    readonly check: { readonly id: string };
    readonly grade: number;
    readonly skipped: boolean;
  }[];
}

type Exceptions = Readonly<Record<string, readonly [objects: RegExp, reason: string]>>;

/** What kube-score may find in which objects, and why that is right. */
const EXCEPTIONS: Exceptions = {
  'container-resources': [/./, 'A limit of CPU slows a service when it has most to do.'],
  'container-ephemeral-storage-request-and-limit': [
    /./,
    'The root is read-only and no volume is scratch space: only logs take disk.',
  ],
  'container-image-pull-policy': [/./, 'The tag of a release never moves, and a digest cannot.'],
  'container-security-context-user-group-id': [
    /-evaluation$/,
    'The image of PostgreSQL has its user by the id 999.',
  ],
  'networkpolicy-targets-pod': [/\./, 'The scheduler makes the pods of runners, not the chart.'],
  'pod-networkpolicy, a warning': [
    /./,
    'Egress is open: the chart does not know where PostgreSQL, GitHub and the API server are.',
  ],
  'deployment-has-host-podantiaffinity, a warning': [
    /./,
    'Topology spread constraints keep replicas apart.',
  ],
};
const SWITCHED_OFF: Exceptions = {
  'pod-networkpolicy': [/./, 'The operator switched it off.'],
  'deployment-has-poddisruptionbudget': [/./, 'The operator switched it off.'],
};

const kubeScore = onPath('kube-score');
const scored = HELM === undefined || kubeScore === undefined ? describe.skip : describe;

scored('kube-score (H3; needs helm and kube-score)', () => {
  test.each([...EXAMPLES, ...MATRIX])(
    '%s: it finds nothing but the exceptions',
    (name, release) => {
      const input = helmTemplate(release);
      const { stdout } = spawnSync(kubeScore ?? '', ['score', '--output-format', 'json', '-'], {
        input,
        encoding: 'utf8',
      });
      const found = (JSON.parse(stdout) as Scored[]).flatMap(({ object_name: object, checks }) =>
        checks
          .filter(({ grade, skipped }) => !skipped && grade < 10)
          .map(({ check, grade }) => ({
            finding: grade < 5 ? check.id : `${check.id}, a warning`,
            object,
          })),
      );
      const allowed = name.startsWith('all off') ? { ...EXCEPTIONS, ...SWITCHED_OFF } : EXCEPTIONS;
      expect(
        found.filter(({ finding, object }) => allowed[finding]?.[0].test(object) !== true),
      ).toEqual([]);
    },
  );
});
