import { request, type IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

/** A message from the runner service to a connected runner. */
export type RunnerMessage =
  | {
      readonly type: 'job';
      readonly jobId: number;
      readonly name: string;
      readonly durationMs: number;
      readonly result: JobResult;
    }
  | { readonly type: 'cancel' }
  | { readonly type: 'deleted' }
  | { readonly type: 'version_ended' };

/** The end of a job if no fault stops its runner. */
export type JobResult = 'success' | 'failure';

/** The version of a runner whose image does not name one. */
export const NEWEST_VERSION = '2.337.0';

/** The facts about a runner's container that change the runner's behaviour. */
export type RunnerContainer = {
  /**
   * Its tag is the runner's version if it has the form of a version; else the newest version runs.
   */
  readonly image: string;
  readonly env: Readonly<Record<string, string>>;
};

export type RunnerEnd = { readonly exitCode: number; readonly log: string[] };

type Config = { readonly url: string; readonly runnerId: number; readonly secret: string };

/** The exit code of a process killed by SIGTERM. */
const TERMINATED = 143;

/**
 * Plays the runner application with a JIT config of the simulated GitHub: connects, waits for one
 * job, works as long as the job takes, reports, ends.
 *
 * Exit code 0 after a job, or when the registration was removed meanwhile. 1 when it could not
 * start: the config was used before, or the registration is gone. 143 when `signal` aborted, as
 * when its pod is killed: the connection breaks without a message. When GitHub no longer serves its
 * version the exit code is 0, or 7 if the container asks for that and the version supports it.
 *
 * `onLine` also gets each log line as it is written.
 */
export async function playRunner(
  jitConfig: string,
  signal: AbortSignal,
  onLine?: (line: string) => void,
  container: RunnerContainer = { image: '', env: {} },
): Promise<RunnerEnd> {
  const log: string[] = [];
  const say = (line: string) => {
    log.push(line);
    onLine?.(line);
  };
  const stamped = (text: string) =>
    say(`${new Date().toISOString().replace('T', ' ').slice(0, 19)}Z: ${text}`);
  try {
    return {
      exitCode: await work(
        JSON.parse(Buffer.from(jitConfig, 'base64').toString()) as Config,
        container,
        { signal, say, stamped },
      ),
      log,
    };
  } catch (error) {
    if (signal.aborted) return { exitCode: TERMINATED, log };
    say(`An error occurred: ${error instanceof Error ? error.message : String(error)}`);
    return { exitCode: 1, log };
  }
}

type Words = {
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
  readonly stamped: (text: string) => void;
};

const VERSION_TAG = /:(\d+\.\d+\.\d+)$/;
/** The exit code, from 2.333.0 on, of a runner that GitHub calls too old. */
const VERSION_ENDED = 7;
const tellsEnd = (version: string): boolean => Number(version.split('.')[1]) >= 333;

async function work(
  config: Config,
  container: RunnerContainer,
  { signal, say, stamped }: Words,
): Promise<number> {
  const version = VERSION_TAG.exec(container.image)?.[1] ?? NEWEST_VERSION;
  const session = await post(config, '/_runner/session', { version }, signal);
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
  say(`Current runner version: '${version}'`);
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
      case 'version_ended': {
        say(
          `An error occurred: Error: Forbidden Runner version v${version} is deprecated and cannot receive messages.`,
        );
        const hasCode =
          tellsEnd(version) &&
          container.env['ACTIONS_RUNNER_RETURN_VERSION_DEPRECATED_EXIT_CODE'] === '1';
        say(
          hasCode
            ? `Runner listener exit with deprecated version exit code: ${VERSION_ENDED}.`
            : 'Runner listener exit with terminated error, stop the service, no retry needed.',
        );
        say('Exiting runner...');
        end.resolve(hasCode ? VERSION_ENDED : 0);
        break;
      }
      case 'cancel':
        cancelled.abort();
        break;
      case 'job':
        busy = true;
        stamped(`Running job: ${message.name}`);
        runJob(config, message, {
          over: AbortSignal.any([signal, over.signal]),
          cancelled: cancelled.signal,
          stamped,
        }).then(() => end.resolve(0), end.reject);
        break;
      default:
        message satisfies never;
    }
  };
  onLines(session, (line) => receive(JSON.parse(line) as RunnerMessage));
  // Every error is followed by a close. A busy runner works on without its connection and fails
  // when it reports, or when it is killed.
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
type Circumstances = {
  readonly over: AbortSignal;
  readonly cancelled: AbortSignal;
  readonly stamped: (text: string) => void;
};

const RESULT_WORDS = { success: 'Succeeded', failure: 'Failed', cancelled: 'Canceled' } as const;

async function runJob(
  config: Config,
  job: JobMessage,
  { over, cancelled, stamped }: Circumstances,
): Promise<void> {
  const signal = AbortSignal.any([over, cancelled]);
  const result = await pause(job.durationMs, job.result, { signal }).catch((error: unknown) => {
    if (over.aborted || !cancelled.aborted) throw error;
    return 'cancelled' as const;
  });
  const answer = await post(config, '/_runner/complete', { result }, over);
  answer.resume();
  if (answer.statusCode !== 204)
    throw new Error(
      `The end of job ${job.name} was refused with status ${answer.statusCode ?? 0}.`,
    );
  stamped(`Job ${job.name} completed with result: ${RESULT_WORDS[result]}`);
}

/**
 * A request on a new connection: when it breaks, no other session breaks with it. Resolves with the
 * answer's head.
 */
function post(
  { url, runnerId, secret }: Config,
  path: string,
  fields: object,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const headers = { 'content-type': 'application/json' };
  const sent = request(`${url}${path}`, { method: 'POST', headers, agent: false, signal }, resolve);
  sent.on('error', reject);
  sent.end(JSON.stringify({ runnerId, secret, ...fields }));
  return promise;
}
