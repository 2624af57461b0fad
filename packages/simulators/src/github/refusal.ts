/** An answer of GitHub's that is not a success; thrown by the function that finds the reason. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

export const notFound = (): Refusal => new Refusal(404, 'Not Found');
