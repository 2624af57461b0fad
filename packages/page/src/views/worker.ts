/** What the page draws of a diagnosis, whose shape is the scheduler’s. */
export interface Diagnosis {
  readonly message: string;
  readonly containers: readonly {
    readonly name: string;
    /** How it ended, as `exit code 1, OOMKilled`. */
    readonly end: string;
    readonly log: string | null;
  }[];
  readonly events: readonly {
    readonly reason: string;
    readonly message: string;
    readonly source: string;
    readonly count: number;
  }[];
  /** As `Ready is False: ContainersNotReady`. */
  readonly conditions: readonly string[];
}

/** Reads a diagnosis. What is missing or of another shape is left out: all of it stands below. */
export function readDiagnosis(stored: Readonly<Record<string, unknown>>): Diagnosis {
  const pod = isRecord(stored['pod']) ? stored['pod'] : {};
  return {
    message: text(stored['message']),
    containers: records(stored['containers']).map((container) => ({
      name: text(container['name']),
      end: endOf(container),
      log: typeof container['log'] === 'string' ? container['log'] : null,
    })),
    events: records(stored['events']).map((event) => ({
      reason: text(event['reason']),
      message: text(event['message']),
      source: text(event['source']),
      count: typeof event['count'] === 'number' ? event['count'] : 1,
    })),
    conditions: records(pod['conditions']).map((condition) => {
      const why = [text(condition['reason']), text(condition['message'])].filter((of) => of !== '');
      const said = `${text(condition['type'])} is ${text(condition['status'])}`;
      return why.length === 0 ? said : `${said}: ${why.join(', ')}`;
    }),
  };
}

const endOf = ({ exitCode, reason, message }: Readonly<Record<string, unknown>>): string =>
  [typeof exitCode === 'number' ? `exit code ${exitCode}` : '', text(reason), text(message)]
    .filter((part) => part !== '')
    .join(', ');

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const records = (value: unknown): Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? value.filter(isRecord) : [];
