import { findStoredDeliveries } from '@paddock/db/events/append-events';
import { findMadeAt } from '@paddock/db/instance';
import { configFileToLoad } from '@paddock/domain/pools/config-file';
import type { Db } from '@paddock/db/schema/tables';
import type { GitHub } from '@paddock/github/connect';
import { type RateBudget, readBudgets } from '@paddock/github/budget';
import { listDeliveries, type WebhookDelivery } from '@paddock/github/deliveries';
import { classifyGitHubError } from '@paddock/github/errors';
import { type GitHubSection, readGitHubSection } from '@paddock/github/follow-keys';
import type { GitHubInstallation } from '@paddock/github/installations';
import type { Environment } from '@paddock/runtime/settings';
import { readYamlFile } from '@paddock/runtime/yaml-file';
import { askApp, connectForPerson } from '../ask-apps.ts';
import { type Finding, findingsOf } from '@paddock/api/findings/findings';

interface Given {
  readonly file: string;
  readonly environment: Environment;
  /** Absent: it cannot be asked. */
  readonly db: Db | undefined;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Each costs two calls. */
const MOST_INSTALLATIONS = 100;
/** The doctor tells what is left of a budget below this share. */
const LOW = 0.1;

/** What GitHub says of the Apps of the file, their deliveries and installations. Never rejects. */
export async function checkGitHub({ file, environment, db, now }: Given): Promise<Finding[]> {
  const findings = findingsOf('github');
  const { found, mend, remark, unchecked } = findings;
  const problems: string[] = [];
  const section = readGitHubSection(file, environment, problems);
  // `checkConfiguration` tells what is wrong with the file itself.
  mend(...problems.filter((problem) => section && !problem.startsWith(`${file}: `)));
  if (section === undefined || problems.length > 0) {
    unchecked('GitHub was not asked: mend the file and the keys that it names first');
    return found;
  }
  const github = connectForPerson(section, now);
  const installed = new Set<string>();
  for (const appId of github.appIds) {
    const { problems: ofApp, installations } = await askApp(github, section, appId, now);
    mend(...ofApp);
    for (const { login, entityId } of installations)
      installed.add(login.toLowerCase()).add(`id:${entityId}`);
    if (ofApp.length > 0 && installations.length === 0) continue;
    if (installations.length === 0)
      mend(
        `App ${appId} is installed nowhere, so it has no jobs: install it by its page at GitHub`,
      );
    await checkDeliveries({ github, db, intake: section.intake }, appId, findings);
    for (const one of installations.filter(({ suspendedAt }) => suspendedAt !== null))
      mend(
        `${one.login} has suspended App ${appId}, so its jobs get no runners: an owner there lifts that at ${one.settingsUrl}`,
      );
    const open = installations.filter(({ suspendedAt }) => suspendedAt === null);
    for (const one of open.slice(0, MOST_INSTALLATIONS)) {
      const { said, isMend } = await checkInstallation(github, one);
      (isMend ? mend : remark)(...said);
    }
    const rest = open.length - MOST_INSTALLATIONS;
    if (rest > 0)
      unchecked(`The budgets of ${rest} more installations of App ${appId} were not read`);
  }
  const { entities = {} } = readYamlFile(file, configFileToLoad).value ?? {};
  const strangers = Object.keys(entities).filter(
    (key) => key !== '*' && !installed.has(key.toLowerCase()),
  );
  if (installed.size > 0 && strangers.length > 0)
    remark(
      `entities has ${strangers.join(', ')}, where no App is installed: have an owner install it there, or remove the name`,
    );
  return found;
}

async function checkDeliveries(
  {
    github,
    db,
    intake,
  }: Pick<GitHubSection, 'intake'> & { readonly github: GitHub; readonly db: Db | undefined },
  appId: number,
  { mend, remark }: ReturnType<typeof findingsOf>,
): Promise<void> {
  try {
    const { deliveries } = await listDeliveries(github.asApp(appId));
    // How an address that may lead nowhere answered says nothing.
    const isTaken = intake === 'log';
    if (isTaken) remark(costOfLog(appId, github.budgetOf(`app ${appId}`)));
    const judged = isTaken ? undefined : judgeDeliveries(deliveries);
    if (judged !== undefined) (judged.isSure ? mend : remark)(`App ${appId}: ${judged.sentence}`);
    else if (!isTaken && db !== undefined && (await wentElsewhere(db, deliveries)))
      mend(
        `App ${appId}: its newest deliveries were answered well, and this database has none of them: its webhook URL leads to another installation; correct it`,
      );
    else if (deliveries.length === 0)
      remark(
        `App ${appId}: GitHub has sent no delivery for days; if jobs were queued, make its webhook active`,
      );
  } catch (error) {
    mend(`App ${appId}: its deliveries cannot be read: ${classifyGitHubError(error).message}`);
  }
}

/** A look at the log every 5 s. */
const LOOKS_AN_HOUR = 720;
/** `queued`, `in_progress` and `completed`. */
const DELIVERIES_OF_JOB = 3;

function costOfLog(appId: number, budget: RateBudget | undefined): string {
  const cost = `App ${appId}: deliveries are taken from GitHub’s log, by up to ${LOOKS_AN_HOUR} calls of the App an hour and one for each delivery`;
  if (budget === undefined) return `${cost}; this GitHub names no limit`;
  const { limit, remaining, resetAt } = budget;
  // A tenth is kept.
  const most = Math.floor((limit * 0.9 - LOOKS_AN_HOUR) / DELIVERIES_OF_JOB);
  return `${cost}: ${limit} are enough for ${most} jobs an hour; ${remaining} are left until ${new Date(resetAt).toISOString()}`;
}

/** Whether another environment answered the deliveries that came after this one was made. */
async function wentElsewhere(db: Db, attempts: readonly WebhookDelivery[]): Promise<boolean> {
  const madeAt = await findMadeAt(db);
  const delivered = attempts
    .filter((one) => one.event === 'workflow_job' && gotThrough(one) && one.deliveredAt > madeAt)
    .map((one) => Object.assign({ isDelivered: true }, one));
  return delivered.length >= SURELY && (await findStoredDeliveries(db, delivered)).size === 0;
}

async function checkInstallation(
  github: GitHub,
  { id: installationId, appId, entityId, login, settingsUrl }: GitHubInstallation,
): Promise<{ readonly said: readonly string[]; readonly isMend: boolean }> {
  try {
    const { octokit } = github.asInstallation({ appId, installationId, entityId });
    const budgets = await readBudgets(octokit);
    const said = Object.entries(budgets).flatMap(([resource, budget]) =>
      budget.remaining < budget.limit * LOW ? [lowBudget(login, resource, budget)] : [],
    );
    return { said, isMend: false };
  } catch (error) {
    const { kind, message } = classifyGitHubError(error);
    // An Enterprise Server without limits has no such page.
    if (kind === 'not_found') return { said: [], isMend: false };
    const cure = /IP allow list/i.test(message)
      ? 'have an owner there add the addresses from which Paddock calls GitHub to that list'
      : `look at ${settingsUrl}`;
    const why = `GitHub refuses App ${appId} what is of ${login} (${message}): ${cure}`;
    return { said: [why], isMend: true };
  }
}

const lowBudget = (login: string, resource: string, { remaining, limit, resetAt }: RateBudget) =>
  `GitHub leaves ${login} ${remaining} of ${limit} ${resource === 'core' ? 'calls' : 'registrations of runners'} until ${new Date(resetAt).toISOString()}: wait, or move work to another App`;

type Attempt = Pick<WebhookDelivery, 'status' | 'statusCode'>;

/** This many in a row need a person; fewer may pass. */
const SURELY = 3;

/** What GitHub's answers from our endpoint mean, by their status. 0: no answer came. */
const CAUSES: Readonly<Record<number, string>> = {
  400: 'set the content type of the webhook to application/json',
  401: 'the webhook secret of the App differs from that of ingress, or ingress has no such App: give both the same',
  403: "something before ingress refuses GitHub: let the addresses of GitHub's webhooks through",
  404: 'the webhook URL has another path: it ends with /webhooks/github',
  405: 'the webhook URL leads elsewhere: it ends with /webhooks/github of ingress',
  408: 'the way to ingress is too slow: look at the proxies before it',
  413: 'a proxy before ingress takes no bodies of that size: let it take 25 MB',
  503: 'ingress can store none: its readiness says why',
};

const REDIRECTED =
  'the webhook URL only leads to another address, and GitHub does not follow: give the App that one';
const UNREACHED =
  'check the webhook URL, its name in the DNS, its certificate, and what stands before ingress';

/** Of the newest attempts, the newest first; undefined: the newest got through. */
function judgeDeliveries(
  attempts: readonly Attempt[],
): { readonly sentence: string; readonly isSure: boolean } | undefined {
  const [newest] = attempts;
  if (newest === undefined || gotThrough(newest)) return undefined;
  const { status, statusCode } = newest;
  const other = attempts.findIndex((one) => one.statusCode !== statusCode);
  const alike = other === -1 ? attempts.length : other;
  const until = attempts.findIndex(gotThrough);
  const what = alike === 1 ? 'the newest delivery' : `the newest ${alike} deliveries`;
  const isRedirect = statusCode >= 300 && statusCode < 400;
  const answer = statusCode === 0 ? status : `${statusCode}, ${status}`;
  return {
    sentence: `${what} failed (${answer}): ${CAUSES[statusCode] ?? (isRedirect ? REDIRECTED : UNREACHED)}`,
    isSure: (until === -1 ? attempts.length : until) >= SURELY,
  };
}

const gotThrough = ({ statusCode }: Pick<Attempt, 'statusCode'>): boolean =>
  statusCode >= 200 && statusCode < 300;
