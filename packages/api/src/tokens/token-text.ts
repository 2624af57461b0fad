import { createHash, randomBytes } from 'node:crypto';

/** A token in its parts. `id` finds its row, `secret` proves it. */
export interface TokenParts {
  readonly id: string;
  readonly secret: string;
  /** It begins one session of the page, and proves nothing else. */
  readonly isOneTime: boolean;
}

/** The prefix lets scanners of repositories find a token that was committed. */
const TOKEN = /^paddock_(once_)?([0-9a-f]{16})_([\w-]{43})$/;

/** A new id, and a secret of 256 random bits. */
export const newSecret = (): Pick<TokenParts, 'id' | 'secret'> => ({
  id: randomBytes(8).toString('hex'),
  secret: randomBytes(32).toString('base64url'),
});

export const tokenText = ({ id, secret, isOneTime }: TokenParts): string =>
  `paddock_${isOneTime ? 'once_' : ''}${id}_${secret}`;

/** Undefined: the text is no token. */
export function parseToken(text: string): TokenParts | undefined {
  const [, once, id, secret] = TOKEN.exec(text) ?? [];
  return id === undefined || secret === undefined
    ? undefined
    : { id, secret, isOneTime: once !== undefined };
}

/** In hexadecimal digits. A secret of 256 random bits needs no slow hash: it cannot be guessed. */
export const hashSecret = (secret: string): string =>
  createHash('sha256').update(secret).digest('hex');
