/**
 * An answer came that cannot be used: it is too long, or sends us to another server. It speaks
 * against what was asked for, not against GitHub as a whole: people write what GitHub lists.
 */
export class UnusableAnswerError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnusableAnswerError';
  }
}
