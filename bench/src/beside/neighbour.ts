/** What runs beside a measurement. */
export interface Running {
  /** Ends after what is under way; later calls give the same counts. */
  stop(): Promise<Counts>;
}

export interface Counts {
  /** Passes of the matcher, or answers of the console. */
  readonly done: number;
  /** A single one would be a defect. */
  readonly failures: number;
}
