import { z } from 'zod';

const NAME = '[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?';
const DOMAIN_PART = '[a-z0-9](?:[a-z0-9-]*[a-z0-9])?';
const DOMAIN = `(?=[^/]{1,253}(?:/|$))${DOMAIN_PART}(?:\\.${DOMAIN_PART})*`;

/**
 * Kubernetes' qualified name: the key of a label or taint, or an extended resource with its domain.
 */
export const QUALIFIED_NAME = new RegExp(`^(?:${DOMAIN}/)?${NAME}$`);

const NAME_IN_WORDS = 'at most 63 letters, digits, - _ and ., a letter or digit first and last';

const KEY_IN_WORDS = `must be a label's key: ${NAME_IN_WORDS}, if need be behind a domain such as example.com/`;

export const labelKey = z.string().regex(QUALIFIED_NAME, KEY_IN_WORDS);

/** The key of a toleration. An empty key matches all taints. */
export const taintKey = z.string().regex(new RegExp(`^$|${QUALIFIED_NAME.source}`), KEY_IN_WORDS);

export const labelValue = z
  .string()
  .regex(new RegExp(`^(?:${NAME})?$`), `must be a label's value: ${NAME_IN_WORDS}`);

/** The name of an object of the cluster. */
export const objectName = z
  .string()
  .regex(
    new RegExp(`^${DOMAIN}$`),
    'must be a name in Kubernetes: a-z, 0-9, - and ., such as high-priority',
  );
