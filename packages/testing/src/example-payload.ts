import { createRequire } from 'node:module';

type JsonValue = string | number | boolean | null | undefined | JsonValue[] | JsonObject;
export interface JsonObject {
  [field: string]: JsonValue;
}

interface EventExamples {
  readonly name: string;
  readonly examples: readonly JsonObject[];
}

/** Four megabytes of JSON: read for the first example, then kept by `require`. */
function knownExamples(): readonly EventExamples[] {
  const require = createRequire(import.meta.url);
  return require('@octokit/webhooks-examples') as readonly EventExamples[];
}

/**
 * A payload as GitHub sends it, collected by Octokit, with some fields changed. A queued job is
 * queued now: one of years ago would not count as demand.
 *
 * `overrides` is merged in at any depth: objects field by field, all else (arrays too) replaced,
 * undefined removed. The caller may change the payload. Throws with the list of examples if there
 * is none for the event and action.
 */
export function examplePayload(
  event: string,
  action: string | undefined,
  overrides: JsonObject = {},
): JsonObject {
  const examples = knownExamples().find(({ name }) => name === event)?.examples ?? [];
  const example = examples.find((candidate) => candidate['action'] === action);
  if (example)
    return merge(
      merge(
        structuredClone(example),
        event === 'workflow_job' && action === 'queued' ? queuedNow() : {},
      ),
      overrides,
    );
  const actions = [
    ...new Set(examples.map((candidate) => JSON.stringify(candidate['action']) ?? 'none')),
  ].join(', ');
  throw new Error(
    `There is no example of ${event} with the action ${action}; of this event there are: ${actions || 'no examples'}.`,
  );
}

function queuedNow(): JsonObject {
  const now = `${new Date().toISOString().slice(0, -5)}Z`;
  return { workflow_job: { created_at: now, started_at: now } };
}

function merge(target: JsonObject, changes: JsonObject): JsonObject {
  for (const [field, change] of Object.entries(changes)) {
    const present = target[field];
    if (change === undefined) delete target[field];
    else
      target[field] =
        isObject(present) && isObject(change) ? merge(present, change) : structuredClone(change);
  }
  return target;
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
