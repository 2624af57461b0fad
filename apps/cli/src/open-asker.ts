import { userInfo } from 'node:os';
import type { Environment } from '@paddock/runtime/settings';
import { apiAsker } from './api-asker.ts';
import type { Asker } from './asker.ts';
import { WrongUsage } from './command.ts';
import { databaseAsker } from './database-asker.ts';
import { readPlace } from './settings.ts';

/**
 * Asks in the name of `person`, else of who is logged in here. Whoever asks closes it. Throws a
 * WrongUsage or a ConfigError.
 */
export function openAsker(environment: Environment, person?: string): Asker {
  const place = readPlace(environment);
  if ('database' in place) return databaseAsker(place.database, person ?? userInfo().username);
  if (person !== undefined)
    throw new WrongUsage('--by is for DATABASE_URL: over the API, PADDOCK_TOKEN says who acts.');
  return apiAsker(place.api);
}
