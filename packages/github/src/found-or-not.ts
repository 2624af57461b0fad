import { classifyGitHubError } from './errors.ts';

/**
 * Resolves with the result of `ask`, and with undefined when GitHub answers 404. Throws every other
 * failure on, also the 404 of a token: that the installation is gone says nothing about the thing
 * that we asked for.
 */
export async function foundOrNot<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    const { kind, operation } = classifyGitHubError(error);
    if (kind === 'not_found' && !operation.endsWith('/access_tokens')) return undefined;
    throw error;
  }
}
