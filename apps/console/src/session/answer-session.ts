import type { IncomingMessage } from 'node:http';
import { beginSession, endSession } from '@paddock/api/sessions/sessions';
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
  options: Pick<AnswerOptions, 'admit' | 'db'>,
  request: IncomingMessage,
): Promise<Answered> =>
  withBearer(options, request, async ({ bearer, credential }) => {
    if (bearer.narrowedTo !== null) return { reply: STRANGER };
    const { db } = options;
    const { method, headers } = request;
    const text = `${JSON.stringify({ person: bearer.person, access: bearer.access })}\n`;
    const { session } = credential;
    if (method === 'GET' || method === 'HEAD') return { reply: { status: 200, text } };
    if (method === 'POST' && session === undefined) {
      const cookie = cookieWith(await beginSession(db, credential.tokenId), headers);
      return { reply: { status: 200, headers: { 'set-cookie': cookie }, text } };
    }
    if (method === 'DELETE' && session !== undefined) {
      await endSession(db, session);
      return { reply: { status: 200, headers: { 'set-cookie': cookieWithout(headers) }, text } };
    }
    return { reply: nothingThere(['GET', 'POST', 'DELETE']) };
  });
