import type { Caller, Waits } from '@paddock/domain/entities/waits';
import { RequestError } from '@octokit/request-error';
import { Octokit } from '@octokit/rest';
import { boundedFetch, type Fetch } from './bounded-fetch.ts';
import {
  type BudgetOwner,
  createRateBudgets,
  type RateBudget,
  type RateResource,
} from './budget.ts';
import { authorize, type Credentials, openCredentials, refuseUnconfigured } from './credentials.ts';
import { classifyGitHubError, UnaskedError, WaitError } from './errors.ts';
import { type AnswerHead, waitsNamedBy } from './waits.ts';

/** A client that speaks for an App itself: installations, tokens, webhook deliveries. */
export type AppClient = { readonly kind: 'app'; readonly appId: number; readonly octokit: Octokit };

/** A client that speaks for one installation: runners, runner groups, runs and jobs. */
export type InstallationClient = {
  readonly kind: 'installation';
  readonly appId: number;
  readonly installationId: number;
  readonly octokit: Octokit;
};

/** An App's installation on an entity. */
export type InstallationPlace = {
  readonly appId: number;
  readonly installationId: number;
  /** The entity's id, which outlives its installations. */
  readonly entityId: number;
};

export type CallOptions = {
  /** Sent as X-Correlation-Id, to match a proxy's log with ours; usually the delivery's GUID. */
  readonly correlationId?: string | null | undefined;
  /** Ends calls under way. */
  readonly signal?: AbortSignal;
  /** Called right before each call. */
  readonly onCall?: () => void;
};

export type GitHub = {
  /** The configured Apps, today's at each reading. Calls of any other App fail, as when GitHub refuses a wrong key. */
  readonly appIds: readonly number[];
  /**
   * Uses these Apps, at this address, from now on. Credentials of an App stay while its key and the
   * address do. Throws, and changes nothing, when a private key cannot be read.
   */
  readonly useApps: (used: Pick<GitHubOptions, 'apiUrl' | 'apps'>) => void;
  readonly asApp: (appId: number, options?: CallOptions) => AppClient;
  /** Without credentials. No wait binds its calls, for GitHub has asked none of ours to wait there. */
  readonly asNobody: (options?: CallOptions) => Octokit;
  readonly asInstallation: (place: InstallationPlace, options?: CallOptions) => InstallationClient;
  /** The newest known state of a budget; undefined before the first answer. */
  readonly budgetOf: (owner: BudgetOwner, resource?: RateResource) => RateBudget | undefined;
};

export type GitHubOptions = {
  /** `https://api.github.com`, or `https://HOST/api/v3` of an Enterprise Server. */
  readonly apiUrl: string;
  readonly apps: readonly { readonly appId: number; readonly privateKey: string }[];
  /** The limit for one request, its body included. */
  readonly requestTimeoutMs: number;
  /** Asked before every call. */
  readonly waits: Waits;
  readonly fetch?: Fetch;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
};

/**
 * Connects to GitHub for some Apps, without any call yet. Clients are cheap: make one per task.
 * They repeat nothing and wait for nothing: they throw the first failure, and `classifyGitHubError`
 * says what it means. They do not make a call that GitHub has asked us not to make now. Throws at
 * once when a private key cannot be read.
 */
export function connectGitHub(options: GitHubOptions): GitHub {
  const { requestTimeoutMs, waits, now = Date.now } = options;
  const budgets = createRateBudgets();
  let baseUrl = '';
  const fetch = boundedFetch(options.fetch ?? globalThis.fetch, requestTimeoutMs);

  const open = (callOptions: CallOptions, url = baseUrl): Octokit =>
    openClient({ baseUrl: url, fetch }, callOptions);
  const openMint = (appId: number, url: string): Octokit => {
    const octokit = open({}, url);
    heedWaits(octokit, { waits, caller: { appId }, now });
    return octokit;
  };
  let inUse = new Map<number, { readonly privateKey: string; readonly credentials: Credentials }>();
  let appIds: readonly number[] = [];
  const useApps: GitHub['useApps'] = ({ apiUrl, apps }) => {
    const url = apiUrl.replace(/\/+$/, '');
    inUse = new Map(
      apps.map((app) => {
        const { appId, privateKey } = app;
        const known = inUse.get(appId);
        const credentials =
          known?.privateKey === privateKey && url === baseUrl
            ? known.credentials
            : openCredentials(app, openMint(appId, url), now);
        return [appId, { privateKey, credentials }];
      }),
    );
    appIds = [...inUse.keys()];
    baseUrl = url;
  };
  useApps(options);
  /** Called by each call: rejects it for an App that is not configured. */
  const credentialsOf = (appId: number, installationId?: number): Credentials =>
    inUse.get(appId)?.credentials ?? refuseUnconfigured(appId, installationId);

  return {
    get appIds() {
      return appIds;
    },
    useApps,
    asNobody: (callOptions = {}) => open(callOptions),
    asApp(appId, callOptions = {}) {
      const octokit = open(callOptions);
      onAnswer(octokit, ({ headers }) => budgets.note(`app ${appId}`, headers));
      heedWaits(octokit, { waits, caller: { appId }, now });
      authorize(octokit, async () => credentialsOf(appId).ofApp());
      return { kind: 'app', appId, octokit };
    },
    asInstallation({ appId, installationId, entityId }, callOptions = {}) {
      const octokit = open(callOptions);
      // Below the authorization: the answer to a token's minting is about the App, not about the
      // installation.
      onAnswer(octokit, ({ headers }) => budgets.note(installationId, headers));
      heedWaits(octokit, { waits, caller: { appId, entityId, installationId }, now });
      authorize(octokit, async () =>
        credentialsOf(appId, installationId).ofInstallation(installationId),
      );
      return { kind: 'installation', appId, installationId, octokit };
    },
    budgetOf: budgets.of,
  };
}

/** A client that says nothing of who calls. */
export function openClient(
  { baseUrl, fetch }: { baseUrl: string; fetch: Fetch },
  { correlationId, signal, onCall }: CallOptions = {},
): Octokit {
  const octokit = new Octokit({
    baseUrl,
    userAgent: 'paddock',
    log: SILENT,
    request: { fetch, log: SILENT, ...(signal === undefined ? {} : { signal }) },
  });
  octokit.hook.before('request', (request) => {
    if (typeof correlationId === 'string') request.headers['x-correlation-id'] = correlationId;
    onCall?.();
  });
  octokit.hook.after('request', refuseText);
  return octokit;
}

/** Notes each answer before the caller sees it; of a failure, with the error. */
function onAnswer(
  octokit: Octokit,
  note: (answer: AnswerHead, failure?: RequestError) => void | Promise<void>,
): void {
  octokit.hook.wrap('request', async (request, options) => {
    try {
      const response = await request(options);
      await note(response);
      return response;
    } catch (error) {
      if (error instanceof RequestError && error.response !== undefined)
        await note(error.response, error);
      throw error;
    }
  });
}

/**
 * Refuses calls that GitHub has asked this caller not to make. Stores the waits that an answer
 * names.
 */
function heedWaits(
  octokit: Octokit,
  { waits, caller, now }: { waits: Waits; caller: Caller; now: () => number },
): void {
  onAnswer(octokit, async (answer, failure) => {
    const message = failure && classifyGitHubError(failure).message;
    for (const wait of waitsNamedBy(answer, now()))
      await waits.note(caller, { message: message ?? 'The hourly budget is used up.', ...wait });
  });
  octokit.hook.before('request', async (options) => {
    const wait = await waits.left(caller, resourceOf(options.url)).catch((error: unknown) => {
      throw new UnaskedError(error);
    });
    if (wait !== undefined) throw new WaitError(octokit.request.endpoint.parse(options), wait);
  });
}

/** The hourly budget that a call counts against. */
const resourceOf = (url: string): RateResource =>
  url.endsWith('/generate-jitconfig') ? 'actions_runner_registration' : 'core';

type Answer = { readonly status: number; readonly url: string; readonly data: unknown };
type Asked = { readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE' | 'HEAD' };

/**
 * A success whose body is not JSON comes from something between us and GitHub, such as a proxy's
 * page. It counts as a failure of the network.
 */
function refuseText({ status, data, url }: Answer, { method }: Asked): void {
  if (typeof data !== 'string' || (data === '' && status !== 200 && status !== 201)) return;
  const message = `an answer with status ${status} that is not JSON, which counts as 502: check the proxies between Paddock and GitHub`;
  throw new RequestError(message, 502, {
    request: { method, url, headers: {} },
    response: { status: 502, url, headers: {}, data: { message } },
  });
}

/** Octokit must not log: failures are thrown, and the caller logs them. */
const SILENT = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
