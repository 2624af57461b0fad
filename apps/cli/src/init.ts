import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { OFFICIAL_IMAGE } from '@paddock/domain/pools/pod-template';
import { apiUrlOf } from '@paddock/github/create-app';
import { parseYaml } from '@paddock/runtime/yaml-file';
import { stringify } from 'yaml';
import { KEY_FILE, LONGEST_NAME, makeApp, SECRET_FILE, urlOf, webhookOf } from './app.ts';
import { NoAnswer } from './asker.ts';
import { nameIn } from './import/to-config.ts';
import { chartValues } from './pools-check.ts';
import { type Command, type Given, type Terminal, WrongUsage } from './command.ts';

interface Question {
  readonly value: string;
  readonly doc: string;
  /** What an empty answer means. */
  readonly otherwise?: string;
  /** Throws a WrongUsage. */
  readonly read: (text: string) => unknown;
}

const QUESTIONS = {
  account: {
    value: 'URL',
    doc: 'The organisation or user whose jobs you run: https://github.com/acme, or on your Enterprise Server',
    read: readAccount,
  },
  'webhook-url': {
    value: 'URL',
    doc: 'Where GitHub will reach ingress: https://paddock.example.com',
    read: webhookOf,
  },
  app: {
    value: 'ID',
    doc: 'The id of your GitHub App; `create` makes one for the organisation now, `create-own` one for you as a user',
    read: readApp,
  },
  database: {
    value: 'SECRET/KEY',
    doc: 'The Secret with the DSN of PostgreSQL and its key; `evaluation` starts one for a first look',
    otherwise: 'paddock-database/uri',
    read: readDatabase,
  },
  labels: {
    value: 'A,B',
    doc: 'What `runs-on` of the first jobs says',
    otherwise: 'self-hosted,linux,x64',
    read: readLabels,
  },
} as const satisfies Readonly<Record<string, Question>>;

type Answers = Record<keyof typeof QUESTIONS, string>;

const SECRET = 'paddock-github';

export const init: Command = {
  name: 'init',
  takes: '[FILE]',
  summary: `Writes the values for the chart, with a configuration that works: values.yaml, or FILE. Asks five
questions, or takes the answers as options. Overwrites nothing.`,
  options: {
    ...QUESTIONS,
    namespace: { value: 'NAME', doc: 'Where the runners are; runners without it' },
    image: { value: 'IMAGE', doc: `The image of the runners; ${OFFICIAL_IMAGE} without it` },
  },
  async run(given) {
    const [file = 'values.yaml'] = given.words;
    if (existsSync(file) || !existsSync(dirname(file)))
      throw new WrongUsage(
        `${file} is there already, or its folder is not: name another, as \`paddock init FILE\`.`,
      );
    try {
      const answers = await readAnswers(given);
      const app = readApp(answers.app);
      let values = valuesOf(answers, typeof app === 'number' ? app : 1, given.options);
      // Before an App is made: what the options of the pool come to.
      const { problems } = parseYaml(file, stringify(values), chartValues);
      if (problems.length > 0) throw new WrongUsage(problems.join('\n'));
      const dir = typeof app === 'number' ? undefined : join(dirname(file), SECRET);
      if (dir !== undefined) {
        const id = await createFor(answers, app === 'create-own', dir, given.terminal);
        values = valuesOf(answers, id, given.options);
      }
      writeFileSync(file, HEAD + stringify(values, { lineWidth: 0 }), { flag: 'wx' });
      return { code: 0, stdout: whatNow(file, values, dir), stderr: '' };
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      return { code: 1, stdout: '', stderr: `${error.message}\n` };
    }
  },
};

const HEAD = `# Values for Paddock's chart. \`config\` is the configuration of all services, which
# \`paddock pools check\` explains; docs/pools.md has its keys.
`;

/** The options, and on a terminal what the person answers to the other questions. Each can be read. */
async function readAnswers({ options, terminal }: Given): Promise<Answers> {
  const person = terminal?.output.isTTY === true ? openPrompt(terminal) : undefined;
  const lacking: string[] = [];
  const answer = async (name: string, question: Question): Promise<string> => {
    const text = options[name] ?? (person === undefined ? question.otherwise : undefined);
    if (typeof text === 'string') question.read(text);
    else if (person === undefined) lacking.push(`--${name.replace('Url', '-url')}`);
    else return person.ask(question);
    return String(text);
  };
  try {
    const answers = {
      account: await answer('account', QUESTIONS.account),
      'webhook-url': await answer('webhookUrl', QUESTIONS['webhook-url']),
      app: await answer('app', QUESTIONS.app),
      database: await answer('database', QUESTIONS.database),
      labels: await answer('labels', QUESTIONS.labels),
    };
    if (lacking.length === 0) return answers;
    throw new WrongUsage(`Without a terminal, these must be given: ${lacking.join(', ')}.`);
  } finally {
    person?.close();
  }
}

/** Asks the person at a terminal, again until the answer can be read. */
function openPrompt({ input, notes }: Terminal) {
  const reader = createInterface({ input });
  const lines = reader[Symbol.asyncIterator]();
  return {
    close: () => reader.close(),
    async ask({ doc, otherwise = '', read }: Question): Promise<string> {
      for (;;) {
        notes.write(`${doc}${otherwise && ` [${otherwise}]`}\n> `);
        const { value = '', done } = await lines.next();
        if (done === true) throw new NoAnswer('Nothing was written.');
        const text = value.trim() || otherwise;
        try {
          read(text);
          return text;
        } catch (error) {
          if (!(error instanceof WrongUsage)) throw error;
          notes.write(`${error.message}\n`);
        }
      }
    },
  };
}

function readAccount(text: string): { readonly login: string; readonly apiUrl: string } {
  const url = urlOf(text.includes('/') ? text : `https://github.com/${text}`, '--account');
  const login = /^\/(?:orgs\/)?([A-Za-z0-9][\w-]*)\/?$/.exec(url.pathname)?.[1];
  if (login === undefined)
    throw new WrongUsage(
      '--account must be an account’s address, such as https://github.com/acme.',
    );
  return { login, apiUrl: apiUrlOf(url) };
}

function readApp(text: string): number | 'create' | 'create-own' {
  if (text === 'create' || text === 'create-own') return text;
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new WrongUsage('--app must be the number on the App’s page at GitHub, or `create`.');
}

const NAME = /^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/;

function readDatabase(text: string): object {
  if (text === 'evaluation') return { evaluation: { enabled: true } };
  const [name = '', key = '', ...rest] = text.split('/');
  if (!NAME.test(name) || !/^[\w.-]+$/.test(key) || rest.length > 0)
    throw new WrongUsage(
      '--database must be a Secret and a key in it, such as paddock-database/uri, or `evaluation`. No DSN: it holds a password.',
    );
  return { database: { existingSecret: { name, key } } };
}

function readLabels(text: string): string[] {
  const labels = text.split(',').map((label) => label.trim());
  if (labels.every((label) => /^[\w.:+-]{1,100}$/.test(label))) return labels;
  throw new WrongUsage('--labels must be labels with a comma between each two.');
}

async function createFor(
  answers: Answers,
  isOwn: boolean,
  dir: string,
  terminal: Terminal | undefined,
): Promise<number> {
  const { login, apiUrl } = readAccount(answers.account);
  const { appId } = await makeApp(
    {
      name: `Runners of ${login}`.slice(0, LONGEST_NAME),
      webhookUrl: webhookOf(answers['webhook-url']),
      organization: isOwn ? undefined : login,
      isPublic: false,
      served: { onOrganizations: !isOwn, onUsers: isOwn, atRepositories: false },
    },
    { apiUrl, dir, port: 0, tell: (text) => void terminal?.notes.write(text) },
  );
  return appId;
}

/** The most workers at once, until a person chooses. */
const MOST_WORKERS = 20;

function valuesOf(answers: Answers, id: number, options: Given['options']) {
  const { login, apiUrl } = readAccount(answers.account);
  const labels = readLabels(answers.labels);
  return {
    ...readDatabase(answers.database),
    credentials: { webhook: { existingSecret: SECRET }, app: { existingSecret: SECRET } },
    webhook: {
      ingress: {
        enabled: true,
        host: new URL(webhookOf(answers['webhook-url'])).hostname,
        tlsSecret: 'paddock-tls',
      },
    },
    config: {
      github: {
        apiUrl,
        apps: [
          {
            id,
            webhookSecret: { file: `/etc/paddock/webhook/${SECRET_FILE}` },
            privateKey: { file: `/etc/paddock/app/${KEY_FILE}` },
          },
        ],
      },
      pools: [
        {
          name: nameFor(labels),
          labels,
          image: String(options['image'] ?? OFFICIAL_IMAGE),
          namespace: String(options['namespace'] ?? 'runners'),
          maxWorkers: MOST_WORKERS,
        },
      ],
      entities: { [login]: { maxWorkers: MOST_WORKERS } },
    },
  };
}

/** A pool's name that says its labels, as linux-x64. */
const nameFor = (labels: readonly string[]): string =>
  nameIn(labels.filter((label) => label !== 'self-hosted').join('-')) || 'first';

function whatNow(
  file: string,
  { config, webhook, ...rest }: ReturnType<typeof valuesOf>,
  dir: string | undefined,
): string {
  const from =
    dir === undefined ? `--from-file=${SECRET_FILE} --from-file=${KEY_FILE}` : `--from-file=${dir}`;
  return `${file} is written. Before \`helm install\`, with docs/install.md:

kubectl create namespace paddock
kubectl create namespace ${config.pools[0]?.namespace}
kubectl create secret generic ${SECRET} -n paddock ${from}

The namespace paddock also needs ${'evaluation' in rest ? '' : 'the Secret with the DSN, and '}the Secret ${webhook.ingress.tlsSecret} with the certificate for
${webhook.ingress.host}. Name your image registry in \`image.registry\` if the chart is not of a release.
The App must be installed too: its page at GitHub says where.
`;
}
