/** What the page hears of its stream of changes. */
interface Hearer {
  /** The console has said something. */
  readonly news: () => void;
  /** The stream broke off. It is opened again by itself. */
  readonly broken: () => void;
  /**
   * Nothing came for too long: the console, its database or the way there hangs. The stream is
   * opened anew, because the old connection may be dead without an end.
   */
  readonly silent: () => void;
  /** What to do with the data of each kind of event. */
  readonly on: Readonly<Record<string, (data: string) => void>>;
}

/**
 * After these the console is asked again whether it has a place. The browser comes again by itself
 * where a stream just ended.
 */
const AGAIN_MS = 15_000;

/** How often the console says that it is alive, unless it says otherwise. */
const ALIVE_EVERY_MS = 10_000;

/** One sign may be late, and another one get lost. */
const PATIENCE = 2.5;

/** Follows a stream until the result is called. */
export function listen(open: () => EventSource, { news, broken, silent, on }: Hearer): () => void {
  let aliveEveryMs = ALIVE_EVERY_MS;
  let again: ReturnType<typeof setTimeout> | undefined;
  let silence: ReturnType<typeof setTimeout> | undefined;
  let source: EventSource;
  const watch = () => {
    clearTimeout(silence);
    silence = setTimeout(reopen, PATIENCE * aliveEveryMs);
  };
  const hear = () => {
    watch();
    news();
  };
  const connect = () => {
    const opened = open();
    source = opened;
    opened.addEventListener('open', hear);
    opened.addEventListener('error', () => {
      broken();
      if (opened.readyState === EventSource.CLOSED) again = setTimeout(connect, AGAIN_MS);
    });
    opened.addEventListener('alive', ({ data }: MessageEvent<string>) => {
      aliveEveryMs = Number(data) || ALIVE_EVERY_MS;
      hear();
    });
    for (const [name, act] of Object.entries(on))
      opened.addEventListener(name, ({ data }: MessageEvent<string>) => {
        hear();
        act(data);
      });
  };
  const stop = () => {
    clearTimeout(again);
    clearTimeout(silence);
    source.close();
  };
  const reopen = () => {
    silent();
    stop();
    connect();
    watch();
  };
  connect();
  watch();
  return stop;
}
