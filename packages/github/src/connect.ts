import { RequestError } from '@octokit/request-error';
import { Octokit } from '@octokit/rest';
import { boundedFetch, type Fetch } from './bounded-fetch.ts';
import { createRateBudgets, type RateBudget, type RateBudgets, type RateCaller, type RateResource } from './budget.ts';
import { type Credentials, openCredentials, withoutCredentials } from './credentials.ts';
import { OutdatedCredentialsError } from './errors.ts';

/** A client that speaks for an App itself: installations, tokens, webhook deliveries. */
export type AppClient = { readonly kind: 'app'; readonly appId: number; readonly octokit: Octokit };

/** A client that speaks for one installation: runners, runner groups, runs and jobs. */
export type InstallationClient = {
  readonly kind: 'installation';
  readonly appId: number;
  readonly installationId: number;
  readonly octokit: Octokit;
};

export type CallOptions = {
  /** Sent as X-Correlation-Id, so that a proxy's log can be laid beside ours; usually the delivery's GUID. */
  readonly correlationId?: string;
  /** Ends calls under way. */
  readonly signal?: AbortSignal;
};

export type GitHub = {
  /** The Apps that are configured. Calls of any other fail, as GitHub refuses a wrong key. */
  readonly appIds: readonly number[];
  readonly asApp: (appId: number, options?: CallOptions) => AppClient;
  readonly asInstallation: (appId: number, installationId: number, options?: CallOptions) => InstallationClient;
  /** What the newest answer said of an installation's budget; undefined before the first. */
  readonly budgetOf: (installationId: number, resource?: RateResource) => RateBudget | undefined;
  /** The same of an App speaking for itself. */
  readonly appBudgetOf: (appId: number) => RateBudget | undefined;
};

export type GitHubOptions = {
  /** `https://api.github.com`, or `https://HOST/api/v3` of an Enterprise Server. */
  readonly apiUrl: string;
  readonly apps: readonly { readonly appId: number; readonly privateKey: string }[];
  readonly userAgent?: string;
  /** For the whole of one request, its body included. */
  readonly requestTimeoutMs: number;
  readonly fetch?: Fetch;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
};

/**
 * Connects to GitHub for some Apps. Nothing is called yet. Clients are cheap: make one per task. They repeat nothing and wait for nothing:
 * the first failure is thrown, and `classifyGitHubError` says what it means. Throws at once when a private key cannot be read.
 */
export function connectGitHub(options: GitHubOptions): GitHub {
  const { apiUrl, requestTimeoutMs, userAgent = 'paddock', now = Date.now } = options;
  const budgets = createRateBudgets();
  const baseUrl = apiUrl.replace(/\/+$/, '');
  const fetch = boundedFetch(options.fetch ?? globalThis.fetch, requestTimeoutMs);

  const open = ({ correlationId, signal }: CallOptions): Octokit => {
    const octokit = new Octokit({ baseUrl, userAgent, log: SILENT, request: { fetch, ...(signal === undefined ? {} : { signal }) } });
    octokit.hook.before('request', (request) => {
      if (correlationId !== undefined) request.headers['x-correlation-id'] = correlationId;
    });
    octokit.hook.after('request', refuseText);
    return octokit;
  };
  const credentials = new Map(options.apps.map((app) => [app.appId, openCredentials(app, open({}), now)]));
  const credentialsOf = (appId: number): Credentials => credentials.get(appId) ?? withoutCredentials(appId);

  return {
    appIds: [...credentials.keys()],
    asApp(appId, callOptions = {}) {
      const { appToken, clockReadings, noteClock } = credentialsOf(appId);
      const octokit = open(callOptions);
      noteBudget(octokit, budgets, { appId }, now);
      authorize(octokit, {
        scheme: 'bearer',
        token: async () => {
          const before = clockReadings();
          return { text: await appToken(), accepted: () => undefined, refused: (error) => noteClock(error, before) };
        },
      });
      return { kind: 'app', appId, octokit };
    },
    asInstallation(appId, installationId, callOptions = {}) {
      const { installationToken, noteAccepted, drop } = credentialsOf(appId);
      const octokit = open(callOptions);
      // Inside of the authorization: the answer to a token's minting tells of the App's budget, not of the installation's.
      noteBudget(octokit, budgets, { installationId }, now);
      authorize(octokit, {
        scheme: 'token',
        token: async () => {
          const text = await installationToken(installationId);
          return { text, accepted: () => noteAccepted(installationId, text), refused: () => drop(installationId, text) };
        },
      });
      return { kind: 'installation', appId, installationId, octokit };
    },
    budgetOf: (installationId, resource) => budgets.of({ installationId }, resource),
    appBudgetOf: (appId) => budgets.of({ appId }),
  };
}

type Authorization = {
  readonly scheme: 'bearer' | 'token';
  readonly token: () => Promise<Token>;
};

/** What one call is authorized with. */
type Token = {
  readonly text: string;
  readonly accepted: () => void;
  /** GitHub answered with 401. True: the next call takes another. */
  readonly refused: (error: RequestError) => boolean;
};

function authorize(octokit: Octokit, { scheme, token }: Authorization): void {
  octokit.hook.wrap('request', async (request, options) => {
    const { text, accepted, refused } = await token();
    options.headers.authorization = `${scheme} ${text}`;
    try {
      const response = await request(options);
      accepted();
      return response;
    } catch (error) {
      if (error instanceof RequestError && error.status === 401 && refused(error)) throw new OutdatedCredentialsError(error);
      throw error;
    }
  });
}

/** Reads the rate-limit headers of every answer, failures included. */
function noteBudget(octokit: Octokit, budgets: RateBudgets, caller: RateCaller, now: () => number): void {
  octokit.hook.after('request', ({ headers }) => budgets.note(caller, headers, now()));
  octokit.hook.error('request', (error) => {
    if (error instanceof RequestError && error.response !== undefined) budgets.note(caller, error.response.headers, now());
    throw error;
  });
}

type Answer = { readonly status: number; readonly url: string; readonly data: unknown };
type Asked = { readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE' | 'HEAD' };

/** A success whose body is no JSON comes from something between us and GitHub, such as a proxy's page: it is a failure of the way. */
function refuseText({ status, data, url }: Answer, { method }: Asked): void {
  if (typeof data !== 'string' || (status !== 200 && status !== 201)) return;
  throw new RequestError(
    `The answer to ${method} ${new URL(url).pathname} is not JSON: look at what stands between Paddock and GitHub.`,
    502,
    {
      request: { method, url, headers: {} },
      response: { status: 502, url, headers: {}, data: {} },
    },
  );
}

/** Failures are thrown, and logged by whoever decides what they mean. */
const SILENT = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
