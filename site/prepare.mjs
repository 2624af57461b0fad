// Copies the pages to where the generator finds its packages, and writes one from the API's description.
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { REFERENCE, ROOT, SITE, SOURCES } from './pages.mjs';

rmSync(SITE, { recursive: true, force: true });
for (const file of [...SOURCES, ...globSync('docs/pictures/*', { cwd: ROOT })])
  cpSync(join(ROOT, file), join(SITE, file));

// `pnpm generate` has written it.
const { paths, components } = JSON.parse(readFileSync(join(ROOT, 'docs/openapi.json'), 'utf8'));

const resolved = ({ $ref, ...schema }) =>
  $ref === undefined
    ? schema
    : $ref
        .split('/')
        .slice(1)
        .reduce((at, step) => at[step], { components });

const typeOf = (given) => {
  const schema = resolved(given);
  const { type, anyOf, enum: values, items } = schema;
  if (values !== undefined) return values.map((value) => `\`${value}\``).join(', ');
  if (schema.const !== undefined) return `\`${schema.const}\``;
  if (anyOf !== undefined) return [...new Set(anyOf.map(typeOf))].join(' or ');
  if (type === 'array' && items !== undefined) return `list of ${typeOf(items)}`;
  return [type ?? 'any'].flat().join(' or ');
};

const cell = (text) =>
  String(text ?? '')
    .replaceAll('|', String.raw`\|`)
    .replaceAll('<', '&lt;')
    .replaceAll('\n', ' ');

/** The fields of a body or an answer, if there is one, those of objects below theirs. */
function fieldsOf(given = {}, prefix = '') {
  const { properties = {}, items, anyOf = [] } = resolved(given);
  if (items !== undefined) return fieldsOf(items, prefix);
  return [
    ...anyOf.flatMap((one) => fieldsOf(one, prefix)),
    ...Object.entries(properties).flatMap(([name, schema]) => [
      [`\`${prefix}${name}\``, typeOf(schema), resolved(schema).description ?? schema.description],
      ...fieldsOf(schema, `${prefix}${name}.`),
    ]),
  ];
}

const table = (head, rows) =>
  rows.length === 0
    ? []
    : [
        '',
        `| ${head.join(' | ')} |`,
        `|${'---|'.repeat(head.length)}`,
        ...rows.map((row) => `| ${row.map(cell).join(' | ')} |`),
      ];

const schemaOf = (of) => of?.content?.['application/json']?.schema;

function operation(method, path, { summary, parameters = [], requestBody, responses }) {
  const given = [
    ...parameters.map((parameter) => {
      const { name, in: place, required, schema = {}, description } = resolved(parameter);
      return [
        `\`${name}\``,
        `${place}${required ? ', required' : ''}`,
        typeOf(schema),
        description ?? schema.description,
      ];
    }),
    ...fieldsOf(schemaOf(requestBody)).map(([name, ...rest]) => [name, 'body', ...rest]),
  ];
  const [status, answer] = Object.entries(responses).find(([code]) => code.startsWith('2')) ?? [];
  return [
    `## ${method.toUpperCase()} ${path}`,
    '',
    summary,
    ...table(['Field', 'In', 'Type', 'Means'], given),
    ...table([`Answer ${status}`, 'Type', 'Means'], fieldsOf(schemaOf(answer && resolved(answer)))),
    '',
  ];
}

const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, described]) => operation(method, path, described)),
);
const text = [
  '# The API',
  '',
  'Each console describes itself at `/api/v1/openapi.json`; [api.md](api.md) says how to sign in, and how lists go on.',
  '',
  ...operations,
];
writeFileSync(join(SITE, REFERENCE), text.join('\n'));
