/**
 * Reads from GitHub whom the runner group of an unserved key admits. The subject is the demand key.
 */
export const LOOK_UP_ACCESS = 'look-up-access';

export const lookUpAccessTask = (demandKey: number) => ({
  kind: LOOK_UP_ACCESS,
  subject: { type: 'key' as const, id: String(demandKey), name: String(demandKey) },
});
