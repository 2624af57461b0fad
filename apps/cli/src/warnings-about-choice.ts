import { overlap } from '@paddock/domain/pools/gate';
import { templateRunner } from '@paddock/domain/pools/pod-template';
import type { Pool } from '@paddock/domain/pools/pool';
import { sharedLabels } from '@paddock/domain/pools/pools-document';
import { devicesIn } from '@paddock/domain/pools/pod-keys';

/** Label sets that fit several pools and go to a surprising one: with devices, or first by name. */
export function warningsAboutChoice(pools: readonly Pool[]): string[] {
  return sharedLabels(pools).flatMap(({ labels, pools: names }) => {
    const [first, second, ...others] = names.flatMap((name) =>
      pools.filter((pool) => pool.name === name),
    );
    if (first === undefined || second === undefined) return [];
    const jobs = `Jobs with the labels ${labels.join(', ')} go to ${first.name}`;
    const [device] = devicesOf(first);
    const plain = [second, ...others].find((pool) => devicesOf(pool).length === 0);
    if (device !== undefined && plain !== undefined) {
      return [
        `${jobs}, which has ${device}, although ${plain.name} fits them too: give ${plain.name} fewer labels, or as many and a higher priority.`,
      ];
    }
    if (
      first.labels.length === second.labels.length &&
      first.entities === undefined &&
      first.repositories === undefined
    ) {
      const isSame = labels.length === first.labels.length;
      if (isSame)
        return [
          `${second.name} gets no jobs: ${first.name} has the same labels, comes first, and serves all entities.`,
        ];
    }
    const isTie =
      first.labels.length === second.labels.length &&
      first.priority === second.priority &&
      overlap(first, second);
    return isTie
      ? [
          `${jobs} and not to ${second.name} for its name alone: give one of the two a higher priority.`,
        ]
      : [];
  });
}

const devicesOf = ({ resources, template }: Pool): string[] =>
  devicesIn(resources ?? templateRunner(template)?.['resources']);
