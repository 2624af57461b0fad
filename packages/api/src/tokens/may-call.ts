import type { Endpoint } from '../endpoint.ts';
import { findOperationEndpoint } from '../operations/operation.ts';
import type { Bearer } from './check-token.ts';
import type { TokenRights } from './tokens.ts';

type Named = Pick<Endpoint, 'name'>;

/** Whether a token is for this endpoint. Its subject, or the answer, is still to be compared. */
export const mayCall = (rights: TokenRights, endpoint: Named): boolean =>
  rights.narrowedTo === null ||
  rights.narrowedTo.endpoint === endpoint.name ||
  findsOwn(rights, endpoint);

/** Whether a token may do what this endpoint does: one that may only read acts nowhere. */
export const mayAct = ({ access }: TokenRights, endpoint: Endpoint): boolean =>
  access === 'operate' || endpoint.access === 'read';

/** Whether a token is for the subject of this input, as the endpoint has read it. */
export const mayTouch = (
  rights: TokenRights,
  endpoint: Named,
  input: Readonly<Record<string, unknown>>,
): boolean =>
  findsOwn(rights, endpoint) ||
  Object.entries(rights.narrowedTo?.subject ?? {}).every(
    ([field, value]) => input[field] === value,
  );

/** Whether the bearer may see this answer; undefined: the endpoint has refused to answer. */
export const maySee = (
  bearer: Omit<Bearer, 'token'>,
  endpoint: Named,
  answer: unknown,
): boolean => {
  if (!findsOwn(bearer, endpoint)) return true;
  const read = asked.safeParse(answer);
  if (!read.success) return false;
  const { requestedBy, askers } = read.data;
  return requestedBy === bearer.person || askers.some(({ person }) => person === bearer.person);
};

/** Who asked for the operation that an answer has. */
const asked = findOperationEndpoint.output.pick({ requestedBy: true, askers: true });

/** A token that is narrowed to another endpoint finds the operations that it asked for. */
const findsOwn = ({ narrowedTo }: TokenRights, { name }: Named): boolean =>
  narrowedTo !== null && narrowedTo.endpoint !== name && name === findOperationEndpoint.name;
