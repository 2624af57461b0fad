import { spawnSync } from 'node:child_process';
import {
  accessSync,
  constants,
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parseAllDocuments } from 'yaml';

export const CHART = join(import.meta.dirname, '../../../deploy/helm/paddock');

/** Path of helm: `PADDOCK_HELM`, else the one on the PATH; undefined where there is none. */
export const HELM: string | undefined = process.env['PADDOCK_HELM'] || onPath('helm');

export type Labels = Readonly<Record<string, string>>;

export interface ChartContainer {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
  }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly lifecycle?: { readonly preStop?: { readonly exec: { readonly command: string[] } } };
  readonly volumeMounts?: readonly {
    readonly name: string;
    readonly mountPath: string;
    readonly subPath?: string;
  }[];
  readonly [field: string]: unknown;
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string | number };
}

export interface ChartPod {
  readonly metadata: { readonly labels: Labels };
  readonly spec: {
    readonly containers: readonly ChartContainer[];
    readonly serviceAccountName?: string;
    readonly automountServiceAccountToken: boolean;
    readonly terminationGracePeriodSeconds?: number;
    readonly [field: string]: unknown;
  };
}

/** An object of Kubernetes, as the chart renders it. Which fields it has depends on its kind. */
export interface ChartObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Labels;
    readonly annotations?: Labels;
  };
  readonly spec?: {
    readonly template?: ChartPod;
    readonly selector?: { readonly matchLabels?: Labels } & Labels;
    readonly podSelector?: { readonly matchLabels?: Labels };
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

export interface Release {
  /** Its folder; by default the project's. */
  readonly chart?: string | undefined;
  readonly release: string;
  readonly namespace: string;
  /** Files of values, the last one wins. */
  readonly values?: readonly string[] | undefined;
  /** Values above those of the files. */
  readonly set?: object | undefined;
}

/** Renders the chart, with its tests and hooks. Throws what helm prints if helm refuses. */
export function renderChart(release: Release): ChartObject[] {
  return objectsIn(helmTemplate(release));
}

/** The objects in YAML, read by its version 1.1, as Kubernetes reads it: there `n` is false. */
export const objectsIn = (text: string): ChartObject[] =>
  parseAllDocuments(text, { version: '1.1' })
    .map((document) => document.toJS() as ChartObject | null)
    .filter((object) => object !== null);

/** The pod templates of objects, with the objects' names. A Pod is its own template. */
export const podsOf = (
  objects: readonly ChartObject[],
): (ChartPod & { readonly owner: string })[] =>
  objects.flatMap(({ kind, metadata, spec }) => {
    const owner = `${kind} ${metadata.name}`;
    if (kind === 'Pod')
      return [{ metadata, spec, owner } as unknown as ChartPod & { owner: string }];
    return spec?.template === undefined ? [] : [{ ...spec.template, owner }];
  });

/** What `helm template` prints of a release. */
export function helmTemplate({
  chart = CHART,
  release,
  namespace,
  values = [],
  set = {},
}: Release): string {
  const files = values.flatMap((file) => ['--values', file]);
  return runHelm(
    ['template', release, chart, '--namespace', namespace, ...files, '--values', '-'],
    JSON.stringify(set),
  );
}

/** Runs helm; returns its output. Throws its error output if it fails. */
export function runHelm(args: readonly string[], input = ''): string {
  if (HELM === undefined) throw new Error('There is no helm: install it, or set PADDOCK_HELM.');
  const { status, stdout, stderr, error } = spawnSync(HELM, args, {
    input,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

/** The path of an executable file in a folder of PATH. */
export function onPath(program: string): string | undefined {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, program))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/** What the chart tells after an installation. Helm prints it beside a cluster alone. */
export function renderNotes(release: Release): string {
  const chart = mkdtempSync(join(tmpdir(), 'paddock-chart-'));
  try {
    cpSync(CHART, chart, { recursive: true });
    const notes = readFileSync(join(CHART, 'templates/NOTES.txt'), 'utf8');
    writeFileSync(
      join(chart, 'templates/notes.yaml'),
      `{{ define "notes" }}${notes}{{ end }}kind: Notes\ntext: {{ include "notes" . | toJson }}`,
    );
    const rendered = renderChart({ ...release, chart }).find(({ kind }) => kind === 'Notes');
    return String(rendered?.['text']);
  } finally {
    rmSync(chart, { recursive: true });
  }
}
