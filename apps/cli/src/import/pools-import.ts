import { readFileSync } from 'node:fs';
import { basename, dirname, extname } from 'node:path';
import { Readable } from 'node:stream';
import { text as allOf } from 'node:stream/consumers';
import { stringify } from 'yaml';
import { type Command, type Given, JSON_OPTION, WrongUsage } from '../command.ts';
import { findSets } from './find-sets.ts';
import { fileOf, readDocuments } from './read-documents.ts';
import type { ReadDocument } from './runner-set.ts';
import { type Said, toConfig } from './to-config.ts';

const STDIN = '-';

export const poolsImport: Command = {
  name: 'pools import',
  takes: 'FILE...',
  summary: `Makes pools of the runner sets of actions-runner-controller, of its Helm values in any wrapping,
and of the label lists of terraform-aws-github-runner. \`-\` is the standard input, as of
\`kubectl get autoscalingrunnersets -A -o yaml\`. The configuration file comes on the output; what is
left out, and what to do, as sentences beside it. Exit code 1 if a set became no pool.`,
  options: {
    url: {
      value: 'URL',
      doc: 'Where runners register, for sets that do not say: https://github.com/acme',
    },
    name: { value: 'NAME', doc: "The release's name, for values without one" },
    namespace: { value: 'NAMESPACE', doc: 'Of the pods, for values without one' },
    prefix: {
      value: 'TEXT',
      doc: 'Before each label, to try the pools beside the old sets: next-',
    },
    'app-id': { value: 'ID', doc: 'The ID of the GitHub App' },
    'scale-set-labels': { doc: 'Takes the jobs of `scaleSetLabels`, too' },
    'allow-untrusted': { doc: 'Allows jobs with power over their node where anybody may run them' },
    json: JSON_OPTION,
  },
  async run(given) {
    const imported = await importFiles(given);
    const { config, refused } = imported;
    const isGood = config !== undefined && refused.length === 0;
    if (given.options['json'] === true)
      return { code: isGood ? 0 : 1, stdout: `${JSON.stringify(imported)}\n`, stderr: '' };
    return {
      code: isGood ? 0 : 1,
      stdout: config === undefined ? '' : asYaml(config),
      stderr: describe(imported),
    };
  },
};

type Imported = Awaited<ReturnType<typeof importFiles>>;

const UNKNOWN_APP: Said = {
  from: 'github.apps',
  sentence:
    'the ID of the App is unknown: write it there, or pass --app-id. A Secret with github_token has none: make an App with `paddock app create`',
};

async function importFiles({ words, options, terminal }: Given) {
  const text = (option: string) =>
    typeof options[option] === 'string' ? options[option] : undefined;
  const appId = text('appId');
  if (appId !== undefined && !/^[1-9]\d{0,14}$/.test(appId))
    throw new WrongUsage("--app-id must be the number on the App's page at GitHub.");
  const documents: ReadDocument[] = [];
  for (const file of words) documents.push(...(await read(file, terminal)));
  const given = { name: text('name'), namespace: text('namespace') };
  const found = findSets(documents, nameOf, given);
  const sets = found.flatMap((one) => ('set' in one ? [one.set] : []));
  const { isAppUnknown, ...made } = toConfig(sets, {
    url: text('url'),
    namespace: given.namespace,
    prefix: text('prefix'),
    appId: appId === undefined ? undefined : Number(appId),
    scaleSetLabels: options['scaleSetLabels'] === true,
    allowUntrusted: options['allowUntrusted'] === true,
  });
  return {
    ...made,
    refused: [
      ...found.flatMap((one) =>
        'refused' in one ? [{ from: one.from, sentence: one.refused }] : [],
      ),
      ...made.refused,
    ],
    /** What is left out or needs a person, by the key it is about. */
    remarks: [
      ...found.flatMap((one) =>
        'remark' in one ? [{ from: one.from, sentence: one.remark }] : [],
      ),
      ...made.remarks,
      ...(isAppUnknown ? [UNKNOWN_APP] : []),
    ],
  };
}

const shown = (file: string): string => (file === STDIN ? 'standard input' : file);

async function read(file: string, terminal: Given['terminal']): Promise<readonly ReadDocument[]> {
  try {
    const text =
      file === STDIN
        ? await allOf(terminal?.input ?? Readable.from([]))
        : readFileSync(file, 'utf8');
    return readDocuments(shown(file), text);
  } catch (error) {
    return [{ from: file, problem: `cannot be read: ${(error as Error).message}` }];
  }
}

/** The name of what a file has: its own, or its folder's if it is called as most are. */
function nameOf(from: string): string {
  const file = fileOf(from);
  const name = basename(file, extname(file)).replaceAll(/^values[-_.]?|[-_.]?values$/g, '');
  const isCommon = ['', 'default', 'main', 'index', 'helm'].includes(name);
  const isNamed = file !== shown(STDIN);
  return isNamed
    ? isCommon
      ? basename(dirname(file)).replace(/^\.$/, '') || 'runners'
      : name
    : 'runners';
}

/** Texts such as `yes` are quoted, since Helm reads values by YAML 1.1. */
const asYaml = (config: object): string =>
  `# Made by \`paddock pools import\`; \`paddock pools check\` shows the pods.\n${stringify(config, { lineWidth: 0, aliasDuplicateObjects: false, version: '1.1' })}`;

const sentences = (list: readonly Said[]): string =>
  list
    .map(({ from, sentence }) => `${from}: ${sentence}${/[.?]$/.test(sentence) ? '' : '.'}\n`)
    .join('');

function describe({ pools, refused, remarks, warnings, commands }: Imported): string {
  const what =
    commands.length > 0
      ? `To run first, for the App's credentials and accounts of pods:\n${commands.join('\n')}\n`
      : '';
  return [
    pools.map(({ from, pool }) => `${from} is the pool ${String(pool)}.\n`).join(''),
    sentences(remarks),
    warnings.map((warning) => `${warning}\n`).join(''),
    what,
    refused.length > 0 ? `No pool was made of these:\n${sentences(refused)}` : '',
  ].join('');
}
