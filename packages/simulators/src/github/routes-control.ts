import express, { Router } from 'express';
import type { GitHubControl } from './control.ts';
import { Refusal } from './refusal.ts';

/** `POST /_sim/<method>` with `{ "args": [...] }` for every method of the control. */
export function controlRoutes(control: GitHubControl): Router {
  const router = Router();
  router.use(express.json({ limit: '5mb' }));
  for (const [name, method] of Object.entries(control)) {
    router.post(`/${name}`, async (request, response) => {
      try {
        const result = await (method as (...args: unknown[]) => Promise<unknown>)(
          ...argumentsIn(request.body),
        );
        if (result === undefined) response.status(204).end();
        else response.json(result);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        response.status(error.status).json({ message: error.message });
      }
    });
  }
  return router;
}

function argumentsIn(body: unknown): unknown[] {
  if (typeof body === 'object' && body !== null && 'args' in body && Array.isArray(body.args))
    return body.args;
  throw new Refusal(400, 'Send { "args": [...] }.');
}
