import { z } from 'zod';
import { objectName } from './kubernetes-names.ts';
import { nodeSelector, tolerations } from './node-choice.ts';
import { resources } from './resources.ts';

const container = z.object({ resources: resources.optional() });

/**
 * What can be said beforehand of a template of which no pod would start, by the rules of a pool's
 * own keys. A template that breaks them can be loaded: it may hold what clusters newer than this
 * know. Takes it without keys that have no value.
 */
export const templateRules = z.object({
  metadata: z.object({ labels: nodeSelector.optional() }).optional(),
  spec: z
    .object({
      nodeSelector: nodeSelector.optional(),
      tolerations: tolerations.optional(),
      priorityClassName: objectName.optional(),
      terminationGracePeriodSeconds: z.int().optional(),
      containers: z.array(container).optional(),
      initContainers: z.array(container).optional(),
    })
    .optional(),
});
