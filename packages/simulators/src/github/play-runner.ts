import { request, type IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { RunnerMessage } from './runner.ts';

export type RunnerEnd = { readonly exitCode: number; readonly log: string[] };

type Config = { readonly url: string; readonly runnerId: number; readonly secret: string };

/** What a process killed by SIGTERM ends with. */
const TERMINATED = 143;

/**
 * Plays the runner application with a JIT config of the simulated GitHub: connects, waits for one job, works as long as the job takes,
 * reports, ends. Exit code 0 after a job or when the registration was removed meanwhile; 1 when it could not start (the config was used
 * before, the registration is gone); 143 when `signal` aborted, as when its pod is killed: the connection breaks without a word.
 * Each log line is also handed to `onLine` as it is written.
 */
export async function playRunner(jitConfig: string, signal: AbortSignal, onLine?: (line: string) => void): Promise<RunnerEnd> {
  const log: string[] = [];
  const say = (line: string) => {
    log.push(line);
    onLine?.(line);
  };
  const stamped = (text: string) => say(`${new Date().toISOString().replace('T', ' ').slice(0, 19)}Z: ${text}`);
  try {
    return { exitCode: await work(parseConfig(jitConfig), signal, say, stamped), log };
  } catch (error) {
    if (signal.aborted) return { exitCode: TERMINATED, log };
    say(`An error occurred: ${error instanceof Error ? error.message : String(error)}`);
    return { exitCode: 1, log };
  }
}

async function work(config: Config, signal: AbortSignal, say: (line: string) => void, stamped: (text: string) => void): Promise<number> {
  const session = await post(config, '/_runner/session', {}, signal);
  if (session.statusCode !== 200) {
    session.resume();
    say(
      session.statusCode === 409
        ? 'A session for this runner already exists.'
        : 'The runner registration has been deleted from the server.',
    );
    return 1;
  }
  say('');
  say('√ Connected to GitHub');
  say('');
  stamped('Listening for Jobs');

  const end = Promise.withResolvers<number>();
  const cancelled = new AbortController();
  const over = new AbortController();
  let busy = false;
  const receive = (message: RunnerMessage) => {
    switch (message.type) {
      case 'deleted':
        say('Runner listener exit with terminated error, stop the service, no retry needed.');
        end.resolve(0);
        break;
      case 'cancel':
        cancelled.abort();
        break;
      case 'job':
        busy = true;
        stamped(`Running job: ${message.name}`);
        runJob(config, message, { over: AbortSignal.any([signal, over.signal]), cancelled: cancelled.signal, stamped }).then(
          () => end.resolve(0),
          end.reject,
        );
        break;
      default:
        message satisfies never;
    }
  };
  onLines(session, (line) => receive(JSON.parse(line) as RunnerMessage));
  // A close follows every error; a busy runner works on without its connection and fails when it reports, or when it is killed.
  session.on('error', () => undefined);
  session.on('close', () => {
    if (!busy) end.reject(new Error('The connection to the server was lost.'));
  });
  try {
    return await end.promise;
  } finally {
    over.abort();
    session.destroy();
  }
}

function onLines(session: IncomingMessage, take: (line: string) => void): void {
  let rest = '';
  session.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) take(line);
  });
}

type JobMessage = Extract<RunnerMessage, { readonly type: 'job' }>;
type Circumstances = { readonly over: AbortSignal; readonly cancelled: AbortSignal; readonly stamped: (text: string) => void };

const RESULT_WORDS = { success: 'Succeeded', failure: 'Failed', cancelled: 'Canceled' } as const;

async function runJob(config: Config, job: JobMessage, { over, cancelled, stamped }: Circumstances): Promise<void> {
  const result = await workUnlessCancelled(job, over, cancelled);
  const answer = await post(config, '/_runner/complete', { result }, over);
  answer.resume();
  if (answer.statusCode !== 204) throw new Error(`The end of job ${job.name} was refused with status ${answer.statusCode ?? 0}.`);
  stamped(`Job ${job.name} completed with result: ${RESULT_WORDS[result]}`);
}

async function workUnlessCancelled(job: JobMessage, over: AbortSignal, cancelled: AbortSignal): Promise<keyof typeof RESULT_WORDS> {
  try {
    await pause(job.durationMs, undefined, { signal: AbortSignal.any([over, cancelled]) });
    return job.result;
  } catch (error) {
    if (over.aborted || !cancelled.aborted) throw error;
    return 'cancelled';
  }
}

/** A request on a connection of its own: a session's breaking must be its own. Resolves with the answer's head. */
function post({ url, runnerId, secret }: Config, path: string, fields: object, signal: AbortSignal): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const headers = { 'content-type': 'application/json' };
  const sent = request(`${url}${path}`, { method: 'POST', headers, agent: false, signal }, resolve);
  sent.on('error', reject);
  sent.end(JSON.stringify({ runnerId, secret, ...fields }));
  return promise;
}

function parseConfig(jitConfig: string): Config {
  const config: unknown = JSON.parse(Buffer.from(jitConfig, 'base64').toString());
  if (typeof config !== 'object' || config === null || !('url' in config) || !('runnerId' in config) || !('secret' in config)) {
    throw new Error('The JIT config is not one of the simulated GitHub.');
  }
  return { url: String(config.url), runnerId: Number(config.runnerId), secret: String(config.secret) };
}
