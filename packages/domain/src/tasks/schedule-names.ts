/**
 * The schedule of the sweep over an App's delivery log. Ingress asks for passes, the reconciler
 * runs them.
 */
export const redeliverySchedule = (appId: number): string => `redeliver:${appId}`;
