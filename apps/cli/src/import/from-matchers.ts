import { asList, asRecord } from '@paddock/domain/pools/as-record';
import { numberOf, type RunnerSet, textOf, textsOf } from './runner-set.ts';

/** Runners on machines that serve jobs by lists of labels, of terraform-aws-github-runner. */
export function fromMatchers(
  value: Record<string, unknown>,
  place: {
    readonly from: string;
    readonly name?: string | undefined;
    readonly key: string;
  },
): RunnerSet {
  const { labelMatchers, exactMatch } = asRecord(value['matcherConfig']);
  const runner = asRecord(value['runner_config']);
  const lists = asList(labelMatchers).map(textsOf);
  const name = textOf(value['name']) ?? place.name ?? place.key;
  const most = numberOf(runner['runners_maximum_count']);
  const notes = [
    ...(exactMatch === true
      ? []
      : [
          'matcherConfig.exactMatch: is false there, where one common label was enough; here a pool serves jobs that ask for no other labels, as GitHub does',
        ]),
    ...(lists.length > 1
      ? ['matcherConfig.labelMatchers: has several lists; the pool has the labels of all of them']
      : []),
    'runner_config: describes machines: resources, nodeSelector and template say what the pods need',
  ];
  return {
    from: `${place.from}: ${name}`,
    name,
    namespace: undefined,
    url: undefined,
    labels: [...new Set(lists.flat())],
    scaleSetLabels: [],
    runnerGroup: textOf(runner['runner_group_name']),
    min: 0,
    max: most === -1 ? undefined : most,
    credentials: {},
    pod: {},
    notes,
  };
}
