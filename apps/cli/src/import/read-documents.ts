import { extname } from 'node:path';
import {
  isMap,
  isScalar,
  LineCounter,
  parseAllDocuments,
  visit,
  type Document,
  type Tags,
} from 'yaml';
import { isTerraform, readTerraform } from './read-terraform.ts';
import type { ReadDocument } from './runner-set.ts';

/** The file of a document. */
export const fileOf = (from: string): string => from.split(/, document \d+$/, 1)[0] ?? '';

/** A thousand scale sets with all that the API server adds to them. */
const MOST_CHARACTERS = 8 * 1024 * 1024;
/** Of YAML, this much takes two seconds. */
const MOST_OF_YAML = 1024 * 1024;
/** As in the configuration file: a few lines must not unfold into millions. */
const MOST_ALIASES = 10_000;

const FILLED_IN =
  'has {{ … }}, which another program fills in: import what that makes of it, as of `helm template` or `helmfile template`';

const NO_YAML =
  'is no YAML: import what the program makes of it, as of `helm get values` or `kubectl get -o yaml`';

const NOTHING = 'holds no runner set: no helm_release of one with values, and no matcherConfig';

/**
 * As Helm and kubectl read YAML, by its version 1.1: `0644` is octal, and `yes` is true. They know
 * neither its instants nor numbers such as 1:30.
 */
const AS_KUBERNETES = {
  version: '1.1',
  logLevel: 'error',
  // There the last one of two counts.
  uniqueKeys: false,
  customTags: (tags: Tags) =>
    tags.filter(
      (tag) =>
        typeof tag === 'string' || (tag.format !== 'TIME' && !tag.tag.endsWith(':timestamp')),
    ),
} as const;

/** The documents of a YAML, JSON or Terraform file. A bad one does not throw. */
export function readDocuments(file: string, text: string): readonly ReadDocument[] {
  if (text.length > MOST_CHARACTERS)
    return [{ from: file, problem: `has more than ${MOST_CHARACTERS} characters` }];
  try {
    const found = read(file, text);
    const problem = extname(file) === '.tf' ? NOTHING : 'is empty';
    return found.length > 0 ? found : [{ from: file, problem }];
  } catch (error) {
    return [{ from: file, problem: whyUnreadable(error) }];
  }
}

export function whyUnreadable(error: unknown): string {
  if (error instanceof RangeError) return 'is nested too deeply';
  const [message = ''] = (error as Error).message.split(/:?\n/);
  return message === FILLED_IN ? FILLED_IN : `is no YAML: ${message}`;
}

function read(file: string, text: string): ReadDocument[] {
  const json = asJson(text);
  if (json !== undefined) return [{ from: file, value: json }];
  if (text.length > MOST_OF_YAML)
    return [
      {
        from: file,
        problem: `has more than ${MOST_OF_YAML} characters: have kubectl write JSON (-o json), or import it in parts`,
      },
    ];
  if (isTerraform(extname(file), text)) return readTerraform(file, text, valueOf);
  const lineCounter = new LineCounter();
  const documents = [
    ...parseAllDocuments(text, { ...AS_KUBERNETES, lineCounter, prettyErrors: false }),
  ].filter((document) => !isEmpty(document));
  return documents.map((document, index) => {
    const from = documents.length > 1 ? `${file}, document ${index + 1}` : file;
    const [error] = document.errors;
    if (error !== undefined) {
      const line = lineCounter.linePos(error.pos[0]).line;
      const isYaml = /^(?:\.ya?ml|\.json)?$/.test(extname(file));
      const why = isYaml ? `line ${line}: ${error.message}` : NO_YAML;
      return { from, problem: text.includes('{{') ? FILLED_IN : why };
    }
    return isFilledIn(document) ? { from, problem: FILLED_IN } : { from, value: asValue(document) };
  });
}

const isEmpty = ({ contents, errors }: Document.Parsed): boolean =>
  errors.length === 0 && (contents === null || (isScalar(contents) && contents.value === null));

/** Of large lists, as kubectl makes them, this is a hundred times as fast. */
function asJson(text: string): unknown {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // a flow mapping of YAML
  }
}

/** The value of a YAML text within another file. Throws what is wrong with it. */
export function valueOf(text: string): unknown {
  const [document] = [...parseAllDocuments(text, AS_KUBERNETES)];
  const [error] = document?.errors ?? [];
  if (document === undefined || !('contents' in document)) return undefined;
  if (text.includes('{{') && (error !== undefined || isFilledIn(document)))
    throw new Error(FILLED_IN);
  if (error !== undefined) throw error;
  return asValue(document);
}

const asValue = (document: Document.Parsed): unknown =>
  document.toJS({ maxAliasCount: MOST_ALIASES }) as unknown;

/** YAML reads `{{ name }}` as a mapping whose key is a mapping. */
function isFilledIn(document: Document.Parsed): boolean {
  let found = false;
  visit(document, {
    Pair(_, { key }) {
      if (!isMap(key) || key.flow !== true) return undefined;
      found = true;
      return visit.BREAK;
    },
  });
  return found;
}
