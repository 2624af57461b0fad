import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { hostname } from 'node:os';
import { line, tellEvents } from '@paddock/runtime/events';
import { followCertificates } from '@paddock/runtime/follow-certificates';
import { createHealthApp, type HealthOptions } from '@paddock/runtime/health';
import { type HttpServer, listenHttp, serveUntilStopped } from '@paddock/runtime/http-server';
import { createLogger, type Logger } from '@paddock/runtime/logger';
import { main, catchSignals, run, type Service as Part } from '@paddock/runtime/run';
import { createMetrics, type Metrics } from '@paddock/runtime/metrics';
import { printConfigIfAsked } from '@paddock/runtime/read-config';
import { every, pause } from '@paddock/runtime/pause';
import { warnOfRules } from '@paddock/runtime/rules';
import type { serviceSettings } from '@paddock/runtime/service-settings';
import type { Declarations, Environment, SettingsOf } from '@paddock/runtime/settings';
import { untilMended } from '@paddock/runtime/until-mended';
import {
  connectDatabase,
  type DatabaseConnection,
  type DatabaseOptions,
} from './connection/connect.ts';
import { guardedDatabaseUrl } from './connection/database-url.ts';
import { type Outage, watchOutages } from './connection/database-outage.ts';
import { roleOf, type ServiceName } from './connection/schema-name.ts';
import { createFitness, type FitnessOptions, type WhyNotReady } from './connection/readiness.ts';
import { warningOf } from './database-checks.ts';
import { noteLife, type WatchedService } from './instance.ts';
import type { Db } from './schema/tables.ts';

type ServiceConfig = Omit<SettingsOf<typeof serviceSettings>, 'configPath'> & {
  readonly healthPort: number;
};

/** What the parts of a service are made of. */
export interface Service {
  /** Names this process where it claims a task or holds a lease. */
  readonly holder: string;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly outage: Outage;
  readonly isStopping: () => boolean;
  /** Opens a pool, and closes it once all parts have stopped. */
  readonly connect: (
    options: Omit<DatabaseOptions, 'url' | 'schema' | 'outage' | 'onCut'>,
  ) => DatabaseConnection;
  /**
   * Whether the service can work on the database. Logs each new reason why not. What should be mended
   * although it can is logged too, and shown beside "ready".
   */
  readonly fitness: (
    given: Pick<FitnessOptions, 'db' | 'config' | 'timeoutMs'> & {
      /** Connections that the process has beside its pools. */
      readonly beside: number;
    },
  ) => WhyNotReady;
  /** Serves health and metrics, and what the service itself answers on a port of its own. */
  readonly serve: (
    health: Pick<HealthOptions, 'whyNotReady' | 'warnings'> & {
      /** Each says why it refuses a changed file. The rows tell people. */
      readonly refusals?: readonly (() => string | undefined)[];
    },
    own?: { readonly listener: RequestListener; readonly port: number },
  ) => Promise<HttpServer & { readonly part: Part }>;
  /** Called once all parts have stopped. */
  readonly closeAtEnd: (close: () => unknown) => void;
  /** A part that begins once the service is fit: it may start before PostgreSQL. */
  readonly onceFit: (part: Part) => Part;
}

/** How often a service says that it lives: people are told of one that is silent for a minute. */
const LIFE_EVERY_MS = 5_000;

/** How often a service that cannot work looks whether it can, in milliseconds. */
const POLL_MS = 1_000;

const EVENTS = {
  notReady: (reason: string) => line.warn('not ready', { reason }),
  databaseUnusual: (warning: string) =>
    line.warn('works, but the database should be changed', { warning }),
  connectionsCut: ({ message: reason }: Error) =>
    line.warn('cut connections to PostgreSQL', { reason }),
};

/**
 * The life of a service: reads its configuration, runs the parts that `start` returns until a
 * signal comes or one fails, and closes its connections. Waits while a file of the configuration is
 * wrong. Only prints the configuration if the command line asks for that.
 */
export const runService = <Config extends ServiceConfig>(
  name: ServiceName,
  {
    environment,
    settings,
    read,
  }: {
    readonly environment: Environment;
    readonly settings: Declarations & Parameters<typeof untilMended>[0]['settings'];
    readonly read: (environment: Environment) => Config;
  },
  start: (config: Config, service: Service) => Promise<Readonly<Record<string, Part>>>,
): Promise<void> =>
  main(async () => {
    const caught = catchSignals();
    const readNow = () => read(environment);
    const config = process.argv.includes('--print-config')
      ? readNow()
      : await untilMended({ name, environment, settings, read: readNow, caught });
    if (config === undefined || printConfigIfAsked(process.argv, settings, config)) return;
    const { outage, log } = watchOutages(createLogger(name, config.logLevel));
    warnOfRules(environment, log);
    const metrics = createMetrics(log);
    const events = tellEvents(EVENTS, { log, metrics });
    const certificates = followCertificates(environment, { log, metrics });
    const url = guardedDatabaseUrl(config, log);
    const { schema, httpHost: host, healthPort, drainMs: graceMs } = config;
    const closes: (() => unknown)[] = [];
    let isStopping = false;
    let pooled = 0;
    let firstDb: Db | undefined;
    let whyUnfit: WhyNotReady | undefined;
    const isUnfit = async () => (await whyUnfit?.()) !== undefined;
    let unusual: string | undefined;
    let refusals: readonly (() => string | undefined)[] = [];

    const parts = await start(config, {
      holder: `${name}/${hostname()}/${process.pid}/${randomUUID().slice(0, 8)}`,
      log,
      metrics,
      outage,
      isStopping: () => isStopping,
      connect(options) {
        const onCut = events.connectionsCut;
        const connection = connectDatabase({ ...options, url, schema, outage, onCut });
        closes.push(connection.close);
        firstDb ??= connection.db;
        pooled += options.poolSize;
        return connection;
      },
      fitness: ({ db, config: own, timeoutMs, beside }) =>
        (whyUnfit = createFitness({
          db,
          config: own,
          ...(timeoutMs !== undefined && { timeoutMs }),
          schema,
          role: roleOf(schema, name),
          onUnfit: events.notReady,
          onFacts(facts) {
            const warning = warningOf(facts, pooled + beside);
            if (warning !== undefined && warning !== unusual) events.databaseUnusual(warning);
            unusual = warning;
          },
        })),
      closeAtEnd: (close) => void closes.push(close),
      async serve({ whyNotReady, warnings = [], ...health }, own) {
        refusals = health.refusals ?? [];
        const app = createHealthApp({
          registry: metrics.registry,
          whyNotReady: async () => (isStopping ? 'the service is stopping' : whyNotReady()),
          warnings: [() => unusual, ...refusals, ...warnings, certificates.warning],
        });
        const inner = await listenHttp(app, { port: healthPort, host });
        if (own === undefined) return { ...inner, part: serveUntilStopped(inner, log) };
        const http = await listenHttp(own.listener, { port: own.port, host }).catch(
          async (error: unknown) => {
            await inner.close();
            throw error;
          },
        );
        return { ...http, part: serveUntilStopped(http, log, inner) };
      },
      onceFit: (part) => async (signal) => {
        while (!signal.aborted && (await isUnfit())) await pause(POLL_MS, signal);
        if (!signal.aborted) await part(signal);
      },
    });
    try {
      await run(
        {
          ...parts,
          certificates: certificates.run,
          ...(firstDb && name !== 'console' && { life: lives(firstDb, name, () => refusals) }),
        },
        { graceMs, log, caught, onStop: () => void (isStopping = true) },
      );
    } finally {
      await Promise.all(closes.map((close) => close()));
      await outage.close();
    }
  });

/** PostgreSQL may be away, or have no schema yet: the service says so. A mistake of ours ends it. */
const lives = (
  db: Db,
  service: WatchedService,
  refusals: () => readonly (() => string | undefined)[],
): Part =>
  every(LIFE_EVERY_MS, () => {
    const refusal =
      refusals()
        .flatMap((why) => why() ?? [])
        .join('; ') || undefined;
    return noteLife(db, service, { refusal }).catch((error: unknown) => {
      if (error instanceof TypeError || error instanceof RangeError) throw error;
    });
  });
