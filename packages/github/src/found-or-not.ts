import { classifyGitHubError } from './errors.ts';

/**
 * What `ask` resolves with; undefined when GitHub answers 404. Every other failure is thrown on,
 * and so is the 404 of a token: that the installation is gone says nothing of what was asked for.
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
