/** Counters that the events of several folders move. */
export interface SharedCounters {
  recovered(kind: string, count: number): void;
  objectFailed(sweep: string): void;
}
