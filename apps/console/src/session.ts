import { beginSession, endSession } from '@paddock/api/sessions/sessions';
import type { Request } from 'express';
import {
  type Answered,
  type AnswerOptions,
  nothingThere,
  STRANGER,
  withBearer,
} from './http/answer.ts';
import { cookieWith, cookieWithout } from './sign-in/cookies.ts';

/**
 * Answers who has signed in (GET), begins a session of the token in the header `Authorization`
 * (POST), or ends the session of the cookie (DELETE). A narrowed token cannot sign in: the page
 * would be empty. Never rejects.
 */
export const answerSession = (options: AnswerOptions, request: Request): Promise<Answered> => {
  const { method, headers } = request;
  return withBearer(
    options,
    request,
    async ({ bearer, credential: { ownerId, session } }) => {
      const { person, access, narrowedTo, token } = bearer;
      if (narrowedTo !== null) return { reply: STRANGER };
      const said = (isSession: boolean, cookie?: string): Answered => ({
        reply: {
          status: 200,
          ...(cookie !== undefined && { headers: { 'set-cookie': cookie } }),
          text: `${JSON.stringify({ person, access, isSession })}\n`,
        },
      });
      if (method === 'GET' || method === 'HEAD') return said(session !== undefined);
      if (method === 'POST' && session === undefined && token !== undefined)
        return said(true, cookieWith(await beginSession(options.db, ownerId), headers.origin));
      if (method === 'DELETE' && session !== undefined) {
        await endSession(options.db, session);
        return said(false, cookieWithout(headers.origin));
      }
      return { reply: nothingThere(['GET', 'POST', 'DELETE']) };
    },
    method === 'POST',
  );
};
