import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '..', '..');
/** Each target with the folder of its app. */
const TARGETS = [
  ['ingress', 'ingress'],
  ['scheduler', 'scheduler'],
  ['reconciler', 'reconciler'],
  ['console', 'console'],
  ['migrate', 'migrate'],
  ['paddock', 'cli'],
] as const;

interface Stage {
  /** An image, or the name of an earlier stage. */
  readonly base: string;
  readonly name: string;
  /** Each with its keyword first, without line breaks. */
  readonly instructions: readonly string[];
}

/** The stages of a Dockerfile, in order. What stands before the first one is left out. */
function stagesOf(dockerfile: string): Stage[] {
  const [, ...parts] = dockerfile
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split(/^FROM /m);
  return parts.map((part) => {
    const [from = '', ...instructions] = part.split('\n').filter((line) => line !== '');
    const [, base = '', name = ''] = /^(?:--platform=\S+ )?(\S+) AS (\S+)$/.exec(from) ?? [];
    return { base, name, instructions };
  });
}

const stages = stagesOf(readFileSync(join(ROOT, 'deploy/docker/Dockerfile'), 'utf8'));
const stageOf = (name: string) => stages.find((stage) => stage.name === name);

/** A target's instructions after those of the stages that it starts from. */
function instructionsOf(target: string): string[] {
  const stage = stageOf(target);
  return stage === undefined ? [] : [...instructionsOf(stage.base), ...stage.instructions];
}

/** The arguments of all instructions of a kind, such as COPY. */
const all = (keyword: string, instructions: readonly string[]): string[] =>
  instructions.flatMap((line) =>
    line.startsWith(`${keyword} `) ? [line.slice(keyword.length + 1)] : [],
  );

describe('the images', () => {
  test('start from images by digest', () => {
    const bases = stages.map(({ base }) => base).filter((base) => stageOf(base) === undefined);
    expect(bases).toHaveLength(2);
    for (const base of bases) expect(base).toMatch(/^\S+:\S+@sha256:[0-9a-f]{64}$/);
  });

  test.each(TARGETS)('%s runs its own program, and not as root', (target, app) => {
    const instructions = instructionsOf(target);
    expect(all('USER', instructions)).toEqual(['65532:65532']);
    const [entrypoint = '', ...others] = all('ENTRYPOINT', instructions);
    expect(others).toEqual([]);
    expect(JSON.parse(entrypoint)).toEqual([
      'node',
      '--enable-source-maps',
      `/paddock/apps/${app}/dist/main.mjs`,
    ]);
  });

  test.each(TARGETS)('%s has the bundle and no other files but these', (target, app) => {
    const others: Readonly<Record<string, string>> = {
      migrate: '--from=build /src/db db',
      // For the first token.
      console: '--from=build /src/apps/cli/dist/main.mjs apps/cli/dist/main.mjs',
    };
    const bundle = `--from=build /src/apps/${app}/dist apps/${app}/dist`;
    const files = [bundle, others[target]].filter((path) => path !== undefined);
    expect(all('COPY', instructionsOf(target))).toEqual(files);
    expect(all('WORKDIR', instructionsOf(target))).toEqual(['/paddock']);
    for (const path of [`apps/${app}/src/main.ts`, 'db/migrations', 'db/roles.sql'])
      expect([path, existsSync(join(ROOT, path))]).toEqual([path, true]);
  });

  test('get only bundles that the build stage makes', () => {
    const [run = ''] = all('RUN', stageOf('build')?.instructions ?? []);
    expect(run).toContain(`build ${TARGETS.map(([, app]) => app).join(' ')}`);
  });

  test.each(TARGETS.map(([target]) => target))(
    '%s says where it comes from, and runs nothing while it is built',
    (target) => {
      const instructions = instructionsOf(target);
      const labels = all('LABEL', instructions).join(' ');
      for (const label of ['source', 'revision', 'version', 'licenses'])
        expect(labels).toContain(`org.opencontainers.image.${label}="\${${label.toUpperCase()}}"`);
      expect(labels).toMatch(new RegExp(`image\\.title="(paddock-)?${target}"`));
      // A command would be emulated on the other architecture.
      expect(all('RUN', instructions)).toEqual([]);
    },
  );

  test('have `node` as a command, as the test of the chart runs it', () => {
    expect(all('ENV', instructionsOf('ingress')).join(' ')).toContain('PATH=/nodejs/bin:$PATH');
  });
});
