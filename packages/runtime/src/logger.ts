import { Writable } from 'node:stream';
import winston from 'winston';

export type Logger = Pick<winston.Logger, 'error' | 'warn' | 'info' | 'debug'>;

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;

const stdout = linesTogether(process.stdout);

/**
 * JSON lines on stdout: constant messages, data in named fields, `service` in each. Errors are
 * given as the field `error`.
 */
export function createLogger(service: string, level: (typeof LOG_LEVELS)[number]): Logger {
  const logger = winston.createLogger({
    level,
    defaultMeta: { service },
    format: winston.format.combine(
      winston.format((info) => ({ ...info, ...describedError(info['error']) }))(),
      winston.format.timestamp(),
      winston.format.json(),
    ),
    transports: [new winston.transports.Stream({ stream: stdout, eol: '\n' })],
  });
  // winston formats a line before it checks the level. Formatting a line for every delivery and
  // task would cost more than their work.
  for (const unwanted of LOG_LEVELS.slice(LOG_LEVELS.indexOf(level) + 1))
    logger[unwanted] = () => logger;
  return logger;
}

/**
 * An Error has no enumerable fields, so its name, message, code, stack and causes are copied by
 * name.
 */
function describedError(error: unknown): { error?: unknown } {
  return error === undefined ? {} : { error: describe(error, 0) };
}

function describe(error: unknown, depth: number): unknown {
  if (!(error instanceof Error)) return error;
  const code = 'code' in error ? { code: error.code } : {};
  const status = 'status' in error ? { status: error.status } : {};
  const errors =
    error instanceof AggregateError && depth < 3
      ? { errors: error.errors.map((inner) => describe(inner, depth + 1)) }
      : {};
  const cause =
    error.cause === undefined || depth >= 3 ? {} : { cause: describe(error.cause, depth + 1) };
  return {
    name: error.name,
    message: error.message,
    ...code,
    ...status,
    ...errors,
    ...cause,
    stack: error.stack,
  };
}

/**
 * Writes all lines of one turn of the event loop with one system call, after the answers of that
 * turn: on a pipe, each write stops the process until it is done. Lines still waiting at the end of
 * the process are written then. A write that fails, because the reader of a pipe has gone or a disk
 * is full, loses its lines; the next lines are tried again. Nothing else fails because a log line
 * was lost.
 */
export function linesTogether(out: Writable): Writable {
  let pending = '';
  const flush = () => {
    if (pending === '') return;
    const lines = pending;
    pending = '';
    out.write(lines);
  };
  process.on('exit', flush);
  // Without a listener the error would end the process.
  out.on('error', () => undefined);
  return new Writable({
    decodeStrings: false,
    write(line: string | Buffer, _encoding, done) {
      if (pending === '') setImmediate(flush);
      pending += String(line);
      done();
    },
  });
}
