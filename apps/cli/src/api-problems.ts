import { problemDetails } from '@paddock/api/problem';
import { z } from 'zod';
import { printable } from './columns.ts';

const problemJson = z
  .string()
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      context.addIssue({ code: 'custom' });
      return z.NEVER;
    }
  })
  .pipe(problemDetails);

/** One sentence or two about an answer that is none. `asked` is the request's method and address. */
export function problemOf(
  asked: string,
  { status, headers }: Pick<Response, 'status' | 'headers'>,
  text: string,
): string {
  const problem = problemJson.safeParse(text).data;
  if (status >= 300 && status < 400)
    return `${asked} leads on to ${printable(headers.get('location') ?? 'another address')}: the token is not sent there. Set PADDOCK_URL to the address that answers itself.`;
  // A proxy before the console may refuse, too.
  if (problem === undefined)
    return `${asked} was answered with ${status}, and not by a console. Is PADDOCK_URL its address, with its path prefix if it has one?`;
  const detail = printable(problem.detail);
  switch (status) {
    case 401:
      return `${asked} was refused: PADDOCK_TOKEN is unknown there, revoked, or a token for something else. \`paddock token create NAME\` makes a new one, where DATABASE_URL is set.`;
    case 403:
      return `${asked} was refused: ${detail} PADDOCK_TOKEN needs the access \`operate\`: \`paddock token create NAME --access operate\`.`;
    case 400:
      return [detail, ...(problem.errors ?? []).map(mistake)].join('\n');
    case 404:
    case 409:
      return detail;
    default:
      return `${asked} was answered with ${status}: ${detail}`;
  }
}

const mistake = ({ place, message }: { place: string; message: string }): string =>
  `  ${printable(place)}: ${printable(message)}`;

const RIGHT = 'Is PADDOCK_URL right, and is the console running?';

/** Why no answer came, from the error of `fetch`. */
export function whyUnreachable(error: unknown): string {
  const { code, name, message } = innermost(error);
  if (code === 'ECONNREFUSED') return `nothing listens there. ${RIGHT}`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `there is no such host. ${RIGHT}`;
  if (/CERT|SIGNATURE|ALTNAME/.test(code))
    return `its certificate is not trusted (${code}). NODE_EXTRA_CA_CERTS names a PEM file with a certificate authority of your own.`;
  const reason =
    name === 'TimeoutError' ? 'in time' : `(${printable(`${code} ${message}`.trim())})`;
  return `no answer came ${reason}. ${RIGHT}`;
}

const failure = z.object({
  name: z.string().catch(''),
  message: z.string().catch(''),
  // A number, where a DOMException has it.
  code: z.string().catch(''),
  cause: z.unknown().optional(),
  errors: z.array(z.unknown()).catch([]),
});

/** `fetch` wraps the error of the connection. Of several addresses, the first stands for all. */
function innermost(error: unknown): z.output<typeof failure> {
  const read = failure.safeParse(error).data ?? { ...NOTHING, message: String(error) };
  const [inner = read.cause] = read.errors;
  return inner === undefined ? read : innermost(inner);
}

const NOTHING = { name: '', code: '', cause: undefined, errors: [] };
