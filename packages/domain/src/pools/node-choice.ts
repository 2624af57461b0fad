import { z } from 'zod';
import { asRecord, isRecord } from './as-record.ts';
import { labelKey, labelValue, taintKey } from './kubernetes-names.ts';

/** Labels that a node must have. */
export const nodeSelector = z.record(labelKey, labelValue, {
  error: ({ code, issues }) => (code === 'invalid_key' ? saidOf(issues) : undefined),
});

const saidOf = (issues: unknown): string | undefined => (issues as z.core.$ZodIssue[])[0]?.message;

const toleration = z
  .strictObject({
    key: taintKey.optional(),
    operator: z.enum(['Exists', 'Equal'], 'must be Exists or Equal').optional(),
    value: labelValue.optional(),
    effect: z
      .enum(
        ['NoSchedule', 'PreferNoSchedule', 'NoExecute'],
        'must be NoSchedule, PreferNoSchedule or NoExecute; without it all of them',
      )
      .optional(),
    tolerationSeconds: z.int().optional(),
  })
  .superRefine((given, context) => judge(asRecord(given), context), {
    when: ({ value }) => isRecord(value),
  });

/** Tolerations of the pool's pods. */
export const tolerations = z.array(toleration);

/** Refuses what the API server would refuse. */
function judge(
  { key = '', operator, value = '', effect, tolerationSeconds }: Record<string, unknown>,
  context: z.RefinementCtx,
): void {
  const report = (at: string, message: string) =>
    context.addIssue({ code: 'custom', path: [at], message });
  if (key === '' && operator !== 'Exists')
    report('operator', 'must be Exists where there is no key');
  if (operator === 'Exists' && value !== '')
    report('value', 'must not be there with operator: Exists, which asks for the key only');
  if (tolerationSeconds !== undefined && effect !== 'NoExecute')
    report('tolerationSeconds', 'needs effect: NoExecute');
}
