import { NoAnswer } from '../asker.ts';
import { resultOf } from '../ask-command.ts';
import { printable } from '../columns.ts';
import { type Command, JSON_OPTION } from '../command.ts';
import { openAsker } from '../open-asker.ts';
import { describeFleet, frame, readFleet } from './fleet.ts';
import { showLive } from './live.ts';

const EVERY_MS = 2_000;

export const top: Command = {
  name: 'top',
  takes: '',
  summary: `Shows the fleet live: pools, the jobs that wait by reason, and the newest failures. q ends it.
Once only, if its output is no terminal.`,
  options: { json: JSON_OPTION },
  run({ options: { json }, terminal, environment }) {
    const isLive = terminal?.output.isTTY === true && environment['TERM'] !== 'dumb';
    const asker = openAsker(environment);
    return resultOf(asker, async () => {
      // Before anything is drawn, so that a first mistake is a plain line.
      let fleet = await readFleet(asker);
      if (json === true) return `${JSON.stringify(fleet)}\n`;
      if (!isLive) return describeFleet(fleet);
      let trouble = '';
      await showLive(terminal, {
        intervalMs: EVERY_MS,
        async refresh() {
          try {
            fleet = await readFleet(asker);
            trouble = '';
          } catch (error) {
            // Beside what was answered last.
            trouble = printable(error instanceof NoAnswer ? error.message : String(error));
          }
        },
        draw: (height) => {
          const title = `paddock top · ${asker.name} · ${fleet.at.slice(0, 19)}Z · q ends`;
          return frame(fleet, { title: printable(title), trouble }, height);
        },
      });
      return '';
    });
  },
};
