import type { ConfigFile } from '@paddock/domain/pools/config-file';
import { RUNNER_CONTAINER, templateImage } from '@paddock/domain/pools/pod-template';
import type { Pool } from '@paddock/domain/pools/pools-document';
import { templateRules } from '@paddock/domain/pools/template-rules';
import { sayWhatIsWanted } from '@paddock/runtime/yaml-words';

/** What can be used, and is hardly meant. */
export function remarksOn({ pools, entities }: ConfigFile): string[] {
  return [
    ...(Object.keys(entities).length === 0 ? ["entities is empty, so nobody's jobs are served: name accounts, or '*' for everybody."] : []),
    ...Object.keys(entities)
      .filter((login) => !LOGIN.test(login))
      .map((login) => `entities has ${login}, which is no account's login: it stands for nobody.`),
    ...pools.flatMap((pool) => [...ofLabels(pool), ...ofRunner(pool), ...ofTemplate(pool), ...ofSwitch(pool)]),
  ];
}

const LOGIN = /^(?:\*|[A-Za-z0-9][A-Za-z0-9_-]*)$/;

/** GitHub's own programs take a list with commas for several labels, and drop spaces around each. */
const ofLabels = ({ name, labels }: Pool): string[] =>
  labels
    .filter((label) => label.includes(',') || label.trim() !== label)
    .map((label) => `${name} has the label "${label}": a comma or a space at its end makes no second label.`);

function ofRunner({ name, image, template, containerMode }: Pool): string[] {
  const other = templateImage(template);
  if (other !== undefined && other !== image) return [`${name} uses its own image ${image}, not ${other} of its template.`];
  const names = (template?.spec?.containers ?? []).map((container) => container.name);
  const beside = names.filter((container) => !(container === 'dind' && containerMode === 'dind'));
  if (beside.length === 0 || names.includes(RUNNER_CONTAINER)) return [];
  return [
    `${name} has no container named ${RUNNER_CONTAINER} in its template: ${beside.join(', ')} will run beside the one that runs jobs.`,
  ];
}

function ofTemplate({ name, template }: Pool): string[] {
  const issues = templateRules.safeParse(withoutNulls(template), { error: sayWhatIsWanted }).error?.issues ?? [];
  return issues.flatMap(({ code, path, message }) => {
    const isUnknown = code === 'unrecognized_keys' || (code === 'invalid_type' && String(path.at(-1)) === 'claims');
    return isUnknown ? [] : [`${name}: template.${path.map(String).join('.')} ${message}; its pods would not start.`];
  });
}

const withoutNulls = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value ?? {}, (_key, field: unknown) => (field === null ? undefined : field)));

const ofSwitch = ({ name, maxWorkers, paused }: Pool): string[] =>
  maxWorkers === 0 || paused ? [`${name} is switched off: it makes no workers.`] : [];
