/** A failed call, answered as a Status object like the API server's. */
export class ApiFailure extends Error {
  readonly status: number;
  readonly reason: string;
  readonly details: Record<string, unknown>;

  constructor(
    status: number,
    reason: string,
    message: string,
    details: Record<string, unknown> = {},
  ) {
    super(message);
    this.status = status;
    this.reason = reason;
    this.details = details;
  }
}

export function statusObject(failure: ApiFailure): Record<string, unknown> {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: failure.message,
    reason: failure.reason,
    details: failure.details,
    code: failure.status,
  };
}

/** Builders of failures that name an object. */
const about =
  (status: number, reason: string, words: (named: string, why: string) => string) =>
  (resource: string, name: string, why = ''): ApiFailure =>
    new ApiFailure(status, reason, words(`${resource} "${name}"`, why), { name, kind: resource });

export const notFound = about(404, 'NotFound', (named) => `${named} not found`);
export const alreadyExists = about(409, 'AlreadyExists', (named) => `${named} already exists`);
export const conflict = about(
  409,
  'Conflict',
  (named, why) => `Operation cannot be fulfilled on ${named}: ${why}`,
);
export const forbidden = about(403, 'Forbidden', (named, why) => `${named} is forbidden: ${why}`);

export const badRequest = (message: string): ApiFailure =>
  new ApiFailure(400, 'BadRequest', message);

export const expired = (message: string): ApiFailure => new ApiFailure(410, 'Expired', message);

export function invalid(kind: string, name: string, field: string, why: string): ApiFailure {
  const causes = [{ reason: 'FieldValueInvalid', message: why, field }];
  return new ApiFailure(422, 'Invalid', `${kind} "${name}" is invalid: ${field}: ${why}`, {
    name,
    kind,
    causes,
  });
}
