import express, { type Request, type Response, Router } from 'express';
import { Refusal } from './refusal.ts';
import { closeSession, type NewSession, openSession, reportCompletion } from './runner-service.ts';
import type { World } from './world.ts';

/**
 * The server for the runner application, which is ours too. A session is one answer that stays open
 * and brings one JSON message per line. When the connection breaks, the session is over.
 */
export function runnerConnection(world: World): Router {
  const router = Router();
  router.use(express.json());
  router.post(
    '/session',
    unlessRefused((body: NewSession, response) => {
      const runner = openSession(world, body, (message) =>
        response.write(`${JSON.stringify(message)}\n`),
      );
      response.flushHeaders();
      response.on('close', () => closeSession(world, runner));
    }),
  );
  router.post(
    '/complete',
    unlessRefused((body: Parameters<typeof reportCompletion>[1], response) => {
      reportCompletion(world, body);
      response.status(204).end();
    }),
  );
  return router;
}

function unlessRefused<B>(serve: (body: B, response: Response) => void) {
  return ({ body }: Request<object, unknown, B>, response: Response): void => {
    try {
      serve(body, response);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      response.status(error.status).json({ message: error.message });
    }
  };
}
