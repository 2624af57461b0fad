import { beginSession, endSession } from '@paddock/api/sessions/sessions';
import type { Request } from 'express';
import {
  type Answered,
  type AnswerOptions,
  nothingThere,
  STRANGER,
  withBearer,
} from '../http/answer.ts';
import { cookieWith, cookieWithout } from './cookie.ts';

/**
 * Answers who has signed in (GET), begins a session of the token in the header `Authorization`
 * (POST), or ends the session of the cookie (DELETE). A narrowed token cannot sign in: the page
 * would be empty. Never rejects.
 */
export const answerSession = (
  { admit, db }: Pick<AnswerOptions, 'admit' | 'db'>,
  request: Request,
): Promise<Answered> => {
  const { method, headers } = request;
  return withBearer(
    { admit },
    request,
    async ({ bearer, credential: { ownerId, session } }) => {
      if (bearer.narrowedTo !== null) return { reply: STRANGER };
      const said = ({ isSession, cookie }: { isSession: boolean; cookie?: string }): Answered => ({
        reply: {
          status: 200,
          ...(cookie !== undefined && { headers: { 'set-cookie': cookie } }),
          text: `${JSON.stringify({ person: bearer.person, access: bearer.access, isSession })}\n`,
        },
      });
      if (method === 'GET' || method === 'HEAD') return said({ isSession: session !== undefined });
      if (method === 'POST' && session === undefined && bearer.token !== undefined) {
        const begun = await beginSession(db, ownerId);
        return said({ isSession: true, cookie: cookieWith(begun, headers.origin) });
      }
      if (method === 'DELETE' && session !== undefined) {
        await endSession(db, session);
        return said({ isSession: false, cookie: cookieWithout(headers.origin) });
      }
      return { reply: nothingThere(['GET', 'POST', 'DELETE']) };
    },
    { forSignIn: method === 'POST' },
  );
};
