import { z } from 'zod';

const NAME = '[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?';
const DOMAIN_PART = '[a-z0-9](?:[a-z0-9-]*[a-z0-9])?';
const DOMAIN = `(?=[^/]{1,253}(?:/|$))${DOMAIN_PART}(?:\\.${DOMAIN_PART})*`;

/** What Kubernetes calls a qualified name: the key of a label or of a taint, and, with its domain, an extended resource. */
export const QUALIFIED_NAME = new RegExp(`^(?:${DOMAIN}/)?${NAME}$`);

const NAME_IN_WORDS = 'at most 63 letters, digits, - _ and ., a letter or digit first and last';

const KEY_IN_WORDS = `must be a label's key: ${NAME_IN_WORDS}, if need be behind a domain such as example.com/`;

export const labelKey = z.string().regex(QUALIFIED_NAME, KEY_IN_WORDS);

/** Of a toleration, where an empty one stands for all. */
export const taintKey = z.string().regex(new RegExp(`^$|${QUALIFIED_NAME.source}`), KEY_IN_WORDS);

export const labelValue = z.string().regex(new RegExp(`^(?:${NAME})?$`), `must be a label's value: ${NAME_IN_WORDS}`);

/** The name of an object of the cluster. */
export const objectName = z
  .string()
  .regex(new RegExp(`^${DOMAIN}$`), 'must be a name in Kubernetes: a-z, 0-9, - and ., such as high-priority');
