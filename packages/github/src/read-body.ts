import { UnusableAnswerError } from './unusable-answer.ts';

/**
 * A page of 100 runs, runners or jobs has 2 MB if their texts are as long as GitHub allows. Parsed,
 * an answer takes several times its length, and dozens may be under way.
 */
export const LONGEST_ANSWER_BYTES = 8 * 1024 * 1024;

/**
 * The whole body as text. Throws an UnusableAnswerError, and reads no further, once it is too long.
 * Counts the unpacked bytes.
 */
export async function readBody({ body }: Response): Promise<string> {
  if (body === null) return '';
  const decoder = new TextDecoder();
  let bytes = 0;
  let text = '';
  // Leaving the loop cancels the body, and so closes the connection.
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > LONGEST_ANSWER_BYTES)
      throw new UnusableAnswerError(
        `GitHub's answer is longer than ${LONGEST_ANSWER_BYTES} bytes.`,
      );
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
