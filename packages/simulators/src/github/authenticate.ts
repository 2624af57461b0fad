import { decodeJwt, errors, importSPKI, type JWTPayload, jwtVerify } from 'jose';
import { findInstallation } from './accounts.ts';
import { Refusal } from './refusal.ts';
import { randomText } from '../random.ts';
import { type Installation, type SimulatedApp, type World, isoTime } from './world.ts';

const TOKEN_LIFE_MS = 3_600_000;
/** GitHub refuses JSON web tokens that live longer than this. */
const JWT_LIFE_SECONDS = 600;

const publicKeys = new Map<string, ReturnType<typeof importSPKI>>();

/** Reads a key once: to read it costs more than to verify with it. */
function publicKeyOf(pem: string): ReturnType<typeof importSPKI> {
  const key = publicKeys.get(pem) ?? importSPKI(pem, 'RS256');
  publicKeys.set(pem, key);
  return key;
}

/** The newest one that was verified: a caller sends the same many times a second. */
let verified: { readonly of: string; readonly payload: JWTPayload } | undefined;

async function payloadOf(jwt: string, app: SimulatedApp, nowMs: number): Promise<JWTPayload> {
  const { publicKeyPem } = app;
  const of = [jwt, publicKeyPem, Math.floor(nowMs / 1000)].join(' ');
  if (verified?.of === of) return verified.payload;
  const [first = '', second = first] = publicKeyPem.split(/(?=-----BEGIN)/);
  const verify = async (pem: string) =>
    jwtVerify(jwt, await publicKeyOf(pem), {
      algorithms: ['RS256'],
      currentDate: new Date(nowMs),
      requiredClaims: ['iat', 'exp'],
    });
  const { payload } = await verify(first).catch(() => verify(second));
  verified = { of, payload };
  return payload;
}

/** The App that signed the request's JSON web token; 401 for anything else. */
export async function authenticateApp(
  world: World,
  authorization: string | undefined,
): Promise<SimulatedApp> {
  const jwt = /^bearer (\S+)$/i.exec(authorization ?? '')?.[1];
  if (jwt === undefined || jwt.split('.').length !== 3)
    throw refused('A JSON web token could not be decoded');
  try {
    const app = world.apps.get(Number(decodeJwt(jwt).iss));
    if (app === undefined) throw refused('Integration not found');
    const payload = await payloadOf(jwt, app, world.now());
    const now = world.now() / 1000;
    if (payload.iat === undefined || payload.iat > now + 60)
      throw refused(
        `'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued`,
      );
    if (payload.exp === undefined || payload.exp > now + JWT_LIFE_SECONDS + 5)
      throw refused(`'Expiration time' claim ('exp') is too far in the future`);
    return app;
  } catch (error) {
    if (error instanceof errors.JWTExpired)
      throw refused(
        `'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires`,
      );
    if (error instanceof errors.JOSEError) throw refused('A JSON web token could not be decoded');
    throw error;
  }
}

const refused = (message: string): Refusal => new Refusal(401, message);

export type IssuedToken = { readonly token: string; readonly expiresAt: string };

/** A token of the stateless format, longer than the 40 characters of the former one. */
export function issueToken(world: World, installation: Installation): IssuedToken {
  if (installation.suspendedAt !== null)
    throw new Refusal(403, 'This installation has been suspended');
  const token = `ghs_${installation.appId}_${randomText(300)}`;
  const expiresAt = world.now() + TOKEN_LIFE_MS;
  world.tokens.set(token, { installationId: installation.id, expiresAt });
  return { token, expiresAt: isoTime(expiresAt) };
}

/**
 * The installation that owns the request's token; 401 when unknown or expired, 403 while suspended.
 */
export function authenticateInstallation(
  world: World,
  authorization: string | undefined,
): Installation {
  const token = /^(?:token|bearer) (\S+)$/i.exec(authorization ?? '')?.[1];
  if (token === undefined) throw refused('Requires authentication');
  const known = world.tokens.get(token);
  if (known === undefined || known.expiresAt <= world.now()) throw refused('Bad credentials');
  const installation = findInstallation(world, known.installationId);
  if (installation.suspendedAt !== null)
    throw new Refusal(403, 'This installation has been suspended');
  return installation;
}
