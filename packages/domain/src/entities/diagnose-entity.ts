import { OUTCOMES } from '../deliveries/outcomes.ts';
import { WAIT_REASONS } from '../matching/wait-reasons.ts';
import { type Actor, actorOn, count as counted, instant } from '../why/reason-explanations.ts';

export interface Diagnosis {
  /** As `suspended`; of waiting jobs, the reason. */
  readonly name: string;
  readonly sentence: string;
  readonly since: Date | null;
  readonly actor: Actor;
  readonly advice: string;
}

export function diagnoseEntity(facts: EntityFacts): Diagnosis[] {
  return [
    ...findMissing(facts),
    ...facts.installations.filter(isThere).flatMap((app) => diagnoseApp(facts, app)),
    ...diagnoseName(facts),
    ...facts.installations.filter(isThere).flatMap((app) => diagnoseReinstallation(facts, app)),
    ...facts.authFailures.map((failures) => diagnoseRefusals(facts, failures)),
    ...diagnoseDeliveries(facts),
    ...facts.ignored.flatMap(diagnoseIgnored),
    ...facts.waiting.map(diagnoseWait),
  ];
}

const isThere = ({ deletedAt }: InstalledApp): boolean => deletedAt === null;
const nameOf = ({ asked, entity }: EntityFacts): string => entity?.login ?? asked.login;
const appsOf = (ids: readonly number[]): string =>
  `the ${ids.length === 1 ? 'App' : 'Apps'} ${ids.join(', ')}`;

/** What the team that runs Paddock can mend. */
const fault = (
  name: string,
  sentence: string,
  advice: string,
  since: Date | null = null,
): Diagnosis => ({ name, sentence, since, actor: 'platform', advice });

function findMissing(facts: EntityFacts): Diagnosis[] {
  const present = facts.installations.filter(isThere).map(({ appId }) => appId);
  const { configuredApps: configured } = facts;
  if (present.length === 0) {
    const ends = facts.installations.map(({ deletedAt }) => Number(deletedAt));
    return [
      fault(
        'not_installed',
        `No App of Paddock is installed on ${nameOf(facts)}.`,
        'Install the App on the account, or have its owner do so.',
        ends.length === 0 ? null : new Date(Math.max(...ends)),
      ),
    ];
  }
  if (configured === null || present.some((id) => configured.includes(id))) return [];
  const wanted = configured.length === 0 ? 'no App' : appsOf(configured);
  return [
    fault(
      'wrong_app',
      `Paddock is configured for ${wanted}, and ${nameOf(facts)} has only ${appsOf(present)}.`,
      'Install a configured App there, or add the one that is installed to `github.apps`.',
    ),
  ];
}

function diagnoseApp(facts: EntityFacts, app: InstalledApp): Diagnosis[] {
  const { appId, suspendedAt } = app;
  const suspended = fault(
    'suspended',
    `The App ${appId} is suspended on ${nameOf(facts)}.`,
    'Lift the suspension of the App in the account’s settings at GitHub.',
    suspendedAt,
  );
  return [...(suspendedAt === null ? [] : [suspended]), ...diagnoseSelection(facts, app)];
}

/** What its deliveries say of the repository, and whether they say all. */
function diagnoseSelection(
  facts: EntityFacts,
  { appId, selection, choice }: InstalledApp,
): Diagnosis[] {
  const { repository } = facts.asked;
  if (choice === null || choice === 'selected' || selection !== 'selected') return [];
  const isKnown = choice !== 'unknown';
  if (!isKnown && facts.isRepositorySeen) return [];
  const begin = `The App ${appId} is installed on selected repositories of ${nameOf(facts)}`;
  return [
    fault(
      isKnown ? 'repository_not_selected' : 'repository_maybe_not_selected',
      isKnown
        ? `${begin}, and ${repository} is none of them.`
        : `${begin}; no delivery says whether ${repository} is one of them.`,
      'Look at the repositories of the installation at GitHub, and select this one.',
    ),
  ];
}

function diagnoseName({ asked, entity }: EntityFacts): Diagnosis[] {
  if (entity === null || entity.login === null) return [];
  if (isSame(entity.login, asked.login) || asked.login === String(entity.id)) return [];
  return [
    fault(
      'renamed',
      `The account ${asked.login} is called ${entity.login} now.`,
      'Use the new name: the configuration may still have the old one.',
    ),
  ];
}

const diagnoseReinstallation = (
  { installationsSeen }: EntityFacts,
  { appId, installationId }: InstalledApp,
): Diagnosis[] =>
  installationsSeen
    .filter((seen) => seen.appId === appId && seen.installationId !== installationId)
    .map((seen) => ({
      name: 'reinstalled',
      sentence: `The App ${appId} was installed again, as ${installationId}: the last delivery of the installation ${seen.installationId} came at ${instant(seen.lastAt)}.`,
      since: seen.lastAt,
      actor: 'wait',
      advice: 'Nothing: Paddock uses the installation of today.',
    }));

function diagnoseRefusals(
  facts: EntityFacts,
  { appId, count, since, isNotFound }: AuthFailures,
): Diagnosis {
  const times = `In the last day GitHub refused the App ${appId} ${counted(count, 'time')}`;
  if (!facts.installations.some((app) => isThere(app) && app.appId === appId))
    return fault(
      'wrong_app',
      `${times}, which is not installed on ${nameOf(facts)}.`,
      'Install this App, or take it out of `github.apps`.',
      since,
    );
  return fault(
    'refused',
    isNotFound ? `${times}: it knew no such installation.` : `${times}.`,
    `\`paddock trace ${nameOf(facts)} --kind event\` has what GitHub said.`,
    since,
  );
}

function diagnoseDeliveries(facts: EntityFacts): Diagnosis[] {
  const { undelivered, lastDeliveryAt, installations } = facts;
  if (undelivered !== null)
    return [
      fault(
        'not_delivered',
        `GitHub could not deliver ${counted(undelivered.count, 'event')} of ${nameOf(facts)}, and Paddock asks for them again.`,
        '`paddock redeliveries` has how they failed: see how GitHub reaches the webhook.',
        undelivered.since,
      ),
    ];
  if (lastDeliveryAt !== null || !installations.some(isThere)) return [];
  return [
    fault(
      'not_delivered',
      `The rows have no delivery about ${nameOf(facts)}.`,
      'Check the App’s webhook, and that the App is subscribed to `workflow_job`.',
    ),
  ];
}

const IGNORED: Readonly<Partial<Record<string, { name: string; actor: Actor }>>> = {
  ignored_no_label: { name: 'no_fitting_labels', actor: 'author' },
  ignored_entity: { name: 'entity_not_allowed', actor: 'platform' },
  ignored_pool_closed: { name: 'pool_closed', actor: 'platform' },
  ignored_public_repository: { name: 'public_repository', actor: 'platform' },
  refused_entity: { name: 'login_pinned', actor: 'platform' },
  repository_hidden: { name: 'repository_hidden', actor: 'platform' },
};

function diagnoseIgnored({ outcome, count, since, lastAt, lastJobId }: IgnoredJobs): Diagnosis[] {
  const found = IGNORED[outcome];
  if (found === undefined) return [];
  const why = OUTCOMES[outcome as keyof typeof OUTCOMES];
  const explained = lastJobId === null ? '' : `\`paddock why ${lastJobId}\` explains the last one.`;
  const elsewhere =
    outcome === 'ignored_no_label' ? 'Where other runners serve them, nothing is wrong.' : '';
  return [
    {
      ...found,
      sentence: `${count} of the newest deliveries made no worker, the last at ${instant(lastAt)}: ${why}.`,
      since,
      advice: [explained, elsewhere].filter((text) => text !== '').join(' ') || 'See its trace.',
    },
  ];
}

/** Where people have one word for several reasons, or the other diagnoses have one. */
const WORDS: Readonly<Partial<Record<string, string>>> = {
  at_entity_cap: 'at_cap',
  at_common_cap: 'at_cap',
  at_pool_cap: 'at_cap',
  at_repository_cap: 'at_cap',
  installation_suspended: 'suspended',
  installation_gone: 'not_installed',
  app_not_configured: 'wrong_app',
  no_pool_fits: 'no_fitting_labels',
};

function diagnoseWait({ pool, waiting, reason, since, jobId }: WaitingKey): Diagnosis {
  const meaning: Readonly<Partial<Record<string, string>>> = WAIT_REASONS;
  return {
    name: WORDS[reason] ?? reason,
    sentence: `${counted(waiting, 'job waits', 'jobs wait')} for the pool ${pool}: ${meaning[reason] ?? reason}.`,
    since,
    actor: actorOn(reason),
    advice: `\`paddock why ${jobId}\` explains the one that waits longest.`,
  };
}

const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

export interface EntityFacts {
  /** The login or id, and the repository, as they were asked for. */
  readonly asked: { readonly login: string; readonly repository: string | null };
  /** Null: no row names it. */
  readonly entity: { readonly id: number; readonly login: string | null } | null;
  readonly installations: readonly InstalledApp[];
  /** The Apps of the configuration; null: no scheduler has stored them. */
  readonly configuredApps: readonly number[] | null;
  readonly ignored: readonly IgnoredJobs[];
  /** Refused authentications among its events of the last day, by App. */
  readonly authFailures: readonly AuthFailures[];
  readonly installationsSeen: readonly SeenInstallation[];
  readonly lastDeliveryAt: Date | null;
  /** One of its newest deliveries is about the repository that was asked for. */
  readonly isRepositorySeen: boolean;
  readonly undelivered: { readonly count: number; readonly since: Date } | null;
  readonly waiting: readonly WaitingKey[];
}

export interface InstalledApp {
  readonly appId: number;
  readonly installationId: number;
  readonly selection: string | null;
  readonly suspendedAt: Date | null;
  readonly deletedAt: Date | null;
  /**
   * What its deliveries say of the repository. `unknown`: one from before may have selected it; null:
   * no repository was asked for.
   */
  readonly choice: 'selected' | 'removed' | 'never' | 'unknown' | null;
}

export interface IgnoredJobs {
  readonly outcome: string;
  readonly count: number;
  readonly since: Date;
  readonly lastAt: Date;
  readonly lastJobId: number | null;
}

export interface AuthFailures {
  readonly appId: number;
  readonly count: number;
  readonly since: Date;
  /** GitHub knew no such installation, each time. */
  readonly isNotFound: boolean;
}

export interface SeenInstallation {
  readonly appId: number;
  readonly installationId: number;
  readonly lastAt: Date;
}

export interface WaitingKey {
  readonly pool: string;
  readonly waiting: number;
  readonly reason: string;
  readonly since: Date;
  /** The job that waits longest. */
  readonly jobId: number;
}
