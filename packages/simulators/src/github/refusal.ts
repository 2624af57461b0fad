/** An answer of GitHub's that is not a success; thrown by the function that finds the reason. */
export class Refusal extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.headers = headers;
  }
}

export function notFound(): Refusal {
  return new Refusal(404, 'Not Found');
}
