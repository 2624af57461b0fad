import express, { type Express } from 'express';

/**
 * An express app that says nothing of itself, and takes a path as it is: with its case, and with
 * its slash at the end.
 */
export function createApp(): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  // Else an error that no handler took shows its stack to the caller.
  app.set('env', 'production');
  return app;
}
