/** The name of the schedule by which an App's delivery log is looked through. Ingress wants passes of it, the reconciler runs it. */
export const redeliverySchedule = (appId: number): string => `redeliver:${appId}`;
