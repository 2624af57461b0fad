import { z } from 'zod';
import { objectName } from './kubernetes-names.ts';
import { nodeSelector, tolerations } from './node-choice.ts';
import { resources } from './resources.ts';

const container = z.object({ resources: resources.optional() });

/**
 * Finds values in a template with which no pod would start, by the rules of a pool's own keys. Such
 * a template can still be loaded, since a newer cluster may accept it. Takes it without empty keys.
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
