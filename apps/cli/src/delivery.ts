import { findDeliveryEndpoint } from '@paddock/api/deliveries/find-delivery';
import { askCommand } from './ask-command.ts';
import { asYaml } from './as-yaml.ts';
import { oneWord } from './one-word.ts';

export const delivery = askCommand({
  name: 'delivery',
  takes: 'GUID',
  summary: 'Says what became of a delivery, and whether Paddock asks for it again.',
  endpoint: findDeliveryEndpoint,
  input: (given) => ({ delivery: oneWord(given, 'GUID') }),
  print: (answer) => asYaml(answer),
});
