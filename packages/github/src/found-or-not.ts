import { classifyGitHubError } from './errors.ts';

/** What `ask` resolves with; undefined when GitHub answers 404. Every other failure is thrown on. */
export async function foundOrNot<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (classifyGitHubError(error).kind === 'not_found') return undefined;
    throw error;
  }
}
