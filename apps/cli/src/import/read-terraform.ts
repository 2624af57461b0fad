import type { ReadDocument } from './runner-set.ts';

export const isTerraform = (extension: string, text: string): boolean =>
  extension === '.tf' || (extension === '' && /^[ \t]*(?:resource|module)[ \t]+"/m.test(text));

/** What a block of a file says of a release, or of an object of Kubernetes. */
interface Block {
  readonly from: string;
  readonly type: string;
  /** Values, or the path of a file of them. */
  readonly texts: string[];
  readonly parameters: { name: string; value: unknown }[];
  name?: string;
  namespace?: string;
  chart?: string;
  isEncoded?: boolean;
  /** Says in Terraform's own words what makes a runner set. */
  isSet?: boolean;
}

const ENCODED =
  'has yamlencode(…), or other words of Terraform: import what it makes, as of `helm get values` or `kubectl get -o yaml`';

const KINDS = '(?:AutoscalingRunnerSet|RunnerDeployment|RunnerSet|HorizontalRunnerAutoscaler)';
const SET = new RegExp(`\\b(?:githubConfigUrl"?\\s*[=:]|kind"?\\s*[=:]\\s*"${KINDS})`);
/** A text that is an object, which a release may be in, too. */
const OBJECT = new RegExp(`^kind: *["']?(?:${KINDS}|HelmRelease|Application|HelmChart)\\b`, 'm');

/** A file beside this one, as `templatefile("${path.module}/values.yaml", …)`. */
const FILE =
  /\b(?:template)?file\(\s*"(?:\$\{path\.\w+\}\/)?((?:[^"$]|\$\{[^}]*\})+\.(?:ya?ml|json|tpl|tftpl))"/g;

/**
 * The Helm values that here-documents of `helm_release` or of a module hold, with what `set` changes
 * of them, objects in here-documents, and the label lists of runners on machines.
 */
export function readTerraform(
  file: string,
  text: string,
  parse: (yaml: string) => unknown,
): ReadDocument[] {
  const releases = blocksOf(file, text).flatMap((block): ReadDocument[] => {
    const { from, type, texts: values, parameters, name, namespace, chart = '' } = block;
    if (chart.endsWith('-controller')) return [];
    const isOfSets = chart.endsWith('gha-runner-scale-set');
    const isRelease = type === 'helm_release' || (type === 'module' && isOfSets);
    const isGiven = values.length > 0 || parameters.length > 0;
    const isUnknown = /^$|^[.$]/.test(chart);
    const isLost = block.isEncoded === true ? isOfSets || isUnknown : isOfSets && !isGiven;
    if (block.isSet === true || (isRelease && isLost)) return [{ from, problem: ENCODED }];
    if (!isRelease)
      return values.flatMap((one) => (OBJECT.test(one) ? [{ from, value: parse(one) }] : []));
    return isGiven ? [{ from, value: { name, namespace, chart, values, parameters } }] : [];
  });
  const matchers = text.matchAll(
    /["']?([\w-]{1,99})["']?\s*[:=]\s*\{\s*matcherConfig\s*[:=]\s*(?=\{)/g,
  );
  const runners = [...matchers].map(({ 1: name = '', 0: start, index }) => {
    const body = text.slice(index + start.length);
    const lists = /labelMatchers\s*[:=]\s*(\[(?:[^[\]]|\[[^[\]]*\])*\])/.exec(body)?.[1] ?? '[]';
    const exactMatch = /exactMatch\s*[:=]\s*(true|false)/.exec(body)?.[1] === 'true';
    const most = /runners_maximum_count\s*[:=]\s*(\d+)/.exec(body)?.[1];
    return {
      from: `${file}: ${name}`,
      value: {
        name,
        matcherConfig: { labelMatchers: parse(lists), exactMatch },
        runner_config: most === undefined ? {} : { runners_maximum_count: Number(most) },
      },
    };
  });
  return [...releases, ...runners];
}

function blocksOf(file: string, text: string): Block[] {
  const blocks: Block[] = [];
  let block: Block | undefined;
  let end: string | undefined;
  let lines: string[] = [];
  let set: string | undefined;
  for (const line of text.split('\n')) {
    if (end !== undefined) {
      if (line.trim() !== end) lines.push(line);
      else {
        block?.texts.push(dedented(lines));
        [end, lines] = [undefined, []];
      }
      continue;
    }
    const [, type = 'module', label] =
      /^\s*(?:resource\s+"([^"]+)"|module)\s+"([^"]+)"/.exec(line) ?? [];
    if (/^\s*(?:resource|module|data|locals|variable|output)\b/.test(line)) block = undefined;
    if (label !== undefined) {
      block = { from: `${file}: ${type} ${label}`, type, texts: [], parameters: [] };
      blocks.push(block);
    }
    end = /<<-?\s*(\w+)\s*$/.exec(line)?.[1];
    if (block === undefined) continue;
    if (/yamlencode\(/.test(line)) block.isEncoded = true;
    // What is said to a template is in its file.
    if (/templatefile\(/.test(line)) block.isSet = false;
    if (SET.test(line)) block.isSet ??= true;
    block.texts.push(...[...line.matchAll(FILE)].flatMap(([, path = '']) => path));
    const [, opening] = /^\s*(?:dynamic\s+)?"?set(?:_\w+)?"?\s*(=\s*\[|\{)/.exec(line) ?? [];
    if (opening !== undefined) set = opening === '{' ? '}' : ']';
    const said = [
      ...line.matchAll(
        /\b(?:release_|kubernetes_)?(name|namespace|chart|value)\s*=\s*(?:"([^"]*)"|([\w.]+))/g,
      ),
    ];
    for (const [, key = '', quoted, bare] of said) {
      const isLiteral = bare === undefined || /^(?:\d+|true|false)$/.test(bare);
      const value = quoted ?? (isLiteral ? (bare ?? '') : `\${${bare}}`);
      if (set === undefined && key === 'name') block.name = value;
      if (set === undefined && key === 'namespace') block.namespace = value;
      if (set === undefined && key === 'chart') block.chart = value;
      if (set !== undefined && key === 'name') block.parameters.push({ name: value, value: '' });
      const last = block.parameters.at(-1);
      if (set !== undefined && key === 'value' && last !== undefined) last.value = value;
    }
    if (set !== undefined && line.trim().replace(/,$/, '') === set) set = undefined;
  }
  return blocks;
}

function dedented(lines: readonly string[]): string {
  const depths = lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/));
  const least = depths.reduce((all, depth) => Math.min(all, depth), Infinity);
  return lines.map((line) => line.slice(least)).join('\n');
}
