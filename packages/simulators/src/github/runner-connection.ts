import express, { Router } from 'express';
import { Refusal } from './refusal.ts';
import { closeSession, openSession, reportCompletion } from './runner-service.ts';
import type { Runner, World } from './world.ts';

/**
 * The server for the runner application. A session is one answer that stays open and brings one
 * JSON message per line. When the connection breaks, the session is over.
 */
export function runnerConnection(world: World): Router {
  const router = Router();
  router.use(express.json());

  router.post('/session', (request, response) => {
    const session = { ...credentialsIn(request.body), version: versionIn(request.body) };
    let runner: Runner;
    try {
      runner = openSession(world, session, (message) =>
        response.write(`${JSON.stringify(message)}\n`),
      );
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      response.status(error.status).json({ message: error.message });
      return;
    }
    response.flushHeaders();
    response.on('close', () => closeSession(world, runner));
  });

  router.post('/complete', (request, response) => {
    const { runnerId, secret } = credentialsIn(request.body);
    try {
      reportCompletion(world, runnerId, secret, resultIn(request.body));
      response.status(204).end();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      response.status(error.status).json({ message: error.message });
    }
  });
  return router;
}

function credentialsIn(body: unknown): { readonly runnerId: number; readonly secret: string } {
  if (typeof body !== 'object' || body === null || !('runnerId' in body) || !('secret' in body))
    throw new Error('A runner sends its id and secret.');
  return { runnerId: Number(body.runnerId), secret: String(body.secret) };
}

function versionIn(body: unknown): string {
  if (typeof body !== 'object' || body === null || !('version' in body))
    throw new Error('A runner that connects says its version.');
  return String(body.version);
}

function resultIn(body: unknown): 'success' | 'failure' | 'cancelled' {
  const result =
    typeof body === 'object' && body !== null && 'result' in body ? body.result : undefined;
  if (result === 'success' || result === 'failure' || result === 'cancelled') return result;
  throw new Error(`A runner reports success, failure or cancelled, not ${String(result)}.`);
}
