import { NoAnswer } from '../asker.ts';
import { resultOf } from '../ask-command.ts';
import { printable } from '../columns.ts';
import { type Command, type Given, WrongUsage } from '../command.ts';
import { openAsker } from '../open-asker.ts';
import { readFleet } from './fleet.ts';
import { describeFleet, frame, titleOf } from './frame.ts';
import { showLive } from './live.ts';

export const top: Command = {
  name: 'top',
  takes: '',
  summary: `Shows the fleet live: pools, the jobs that wait by reason, and the newest failures. q ends it.
Once only, if its output is no terminal.`,
  options: {
    interval: { value: 'SECONDS', doc: 'How often it looks, 2 unless said' },
    once: { doc: 'Print it once' },
    json: { doc: 'Print it once, as one JSON object on one line' },
  },
  run(given) {
    const { json, once } = given.options;
    const intervalMs = readInterval(given);
    const { terminal, environment } = given;
    const isLive =
      terminal?.output.isTTY === true &&
      once !== true &&
      json !== true &&
      environment['TERM'] !== 'dumb';
    const asker = openAsker(environment);
    return resultOf(asker, async () => {
      // Before anything is drawn, so that a first mistake is a plain line.
      let fleet = await readFleet(asker);
      if (json === true) return `${JSON.stringify(fleet)}\n`;
      if (!isLive) return describeFleet(fleet);
      let trouble: string | undefined;
      const colours = (environment['NO_COLOR'] ?? '') === '';
      await showLive(terminal, {
        intervalMs,
        async refresh() {
          try {
            fleet = await readFleet(asker);
            trouble = undefined;
          } catch (error) {
            trouble = printable(whyOf(error));
          }
        },
        draw: (width, height) =>
          frame(
            fleet,
            { title: titleOf(asker.name, fleet, intervalMs), trouble },
            { width, height, colours },
          ),
      });
      return '';
    });
  },
};

function readInterval({ options: { interval = '2' } }: Given): number {
  const seconds = Number(interval);
  if (!(seconds >= 1 && seconds <= 3_600))
    throw new WrongUsage('--interval takes seconds, from 1 to 3600.');
  return seconds * 1000;
}

/** The screen shows what was answered last, and this. */
function whyOf(error: unknown): string {
  if (error instanceof NoAnswer) return error.message;
  return `The database did not answer: ${error instanceof Error ? error.message : String(error)}`;
}
