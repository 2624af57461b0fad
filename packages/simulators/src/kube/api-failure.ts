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

export const notFound = (resource: string, name: string): ApiFailure =>
  new ApiFailure(404, 'NotFound', `${resource} "${name}" not found`, { name, kind: resource });

export const alreadyExists = (resource: string, name: string): ApiFailure =>
  new ApiFailure(409, 'AlreadyExists', `${resource} "${name}" already exists`, {
    name,
    kind: resource,
  });

export const conflict = (resource: string, name: string, why: string): ApiFailure =>
  new ApiFailure(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${resource} "${name}": ${why}`,
    { name, kind: resource },
  );

export const badRequest = (message: string): ApiFailure =>
  new ApiFailure(400, 'BadRequest', message);

export const expired = (message: string): ApiFailure => new ApiFailure(410, 'Expired', message);

export const forbidden = (resource: string, name: string, why: string): ApiFailure =>
  new ApiFailure(403, 'Forbidden', `${resource} "${name}" is forbidden: ${why}`, {
    name,
    kind: resource,
  });

export function invalid(kind: string, name: string, field: string, why: string): ApiFailure {
  const causes = [{ reason: 'FieldValueInvalid', message: why, field }];
  return new ApiFailure(422, 'Invalid', `${kind} "${name}" is invalid: ${field}: ${why}`, {
    name,
    kind,
    causes,
  });
}
