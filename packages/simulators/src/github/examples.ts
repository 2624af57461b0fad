import { createRequire } from 'node:module';

/**
 * The webhook payloads GitHub publishes as examples (`@octokit/webhooks-examples`), by event name.
 */
export type Payload = { readonly [field: string]: unknown };

type Definition = { readonly name: string; readonly examples: readonly Payload[] };

const require = createRequire(import.meta.url);
const definitions = require('@octokit/webhooks-examples') as readonly Definition[];

export function exampleOf(event: string, index: number): Payload {
  const example = definitions.find(({ name }) => name === event)?.examples[index];
  if (example === undefined)
    throw new Error(
      `There is no example ${index} of the event ${event}: choose another event or index.`,
    );
  return example;
}

/** An object field of an example. Checked, because we do not control the examples. */
export function objectField(payload: Payload, field: string): Payload {
  const value = payload[field];
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`The example has no object ${field}.`);
  return value as Payload;
}

/** The same JSON with every occurrence of the given texts replaced, in values and in URLs. */
export function replaceTexts(
  payload: Payload,
  replacements: readonly (readonly [from: string, to: string])[],
): Payload {
  const text = replacements.reduce(
    (json, [from, to]) => json.replaceAll(from, JSON.stringify(to).slice(1, -1)),
    JSON.stringify(payload),
  );
  return JSON.parse(text) as Payload;
}
