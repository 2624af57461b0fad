/**
 * GitHub's answer cannot be used: it is too long, or redirects to another server. The thing that we
 * asked for is at fault, not GitHub as a whole: people write the texts that GitHub lists.
 */
export class UnusableAnswerError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnusableAnswerError';
  }
}
