import type { Console } from './console.scene.ts';

/** Signs in, and returns the cookie as the browser sends it. */
export async function signIn(service: Pick<Console, 'ask'>, token: string): Promise<string> {
  const answer = await service.ask('../../session', token, { method: 'POST' });
  return (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
}

export interface Told {
  readonly event: string;
  readonly data: unknown;
}

/** What a stream tells, until it ends. */
export async function eventsOf(answer: Response): Promise<{
  readonly events: readonly Told[];
  readonly ended: Promise<void>;
  readonly end: () => void;
}> {
  if (answer.status !== 200 || answer.body === null)
    throw new Error(`there is no stream: ${answer.status} ${await answer.text()}`);
  const events: Told[] = [];
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  const read = async () => {
    let text = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const parts = (text + value).split('\n\n');
      text = parts.pop() ?? '';
      for (const part of parts) {
        const [, event, data] = /^event: (.*)\ndata: (.*)$/.exec(part) ?? [];
        // That the console is alive, it says when the clock wants it.
        if (event !== undefined && data !== undefined && event !== 'alive')
          events.push({ event, data: JSON.parse(data) });
      }
    }
  };
  return { events, ended: read(), end: () => void reader.cancel() };
}
