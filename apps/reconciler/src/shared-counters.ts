/** The counters that the events of several subjects move. */
export interface SharedCounters {
  recovered(kind: string, count: number): void;
  oneFailed(sweep: string): void;
}
