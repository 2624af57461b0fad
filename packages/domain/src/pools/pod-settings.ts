import { z } from 'zod';

const LATER = 'is not supported yet: job containers that run as pods of their own come later';

/** How jobs get separate containers. */
export const containerMode = z.enum(['none', 'dind'], {
  error: ({ input }) => {
    const type =
      typeof input === 'object' && input !== null && 'type' in input ? input.type : input;
    if (type === 'kubernetes' || type === 'kubernetes-novolume') return `${type} ${LATER}`;
    return type === input ? 'must be none or dind' : 'must be none or dind, written without `type`';
  },
});

/** Credentials in an address would be readable in the database and in every pod. */
const proxyUrl = z
  .url({
    protocol: /^https?$/,
    error: ({ input }) =>
      `must be an address such as http://proxy.example.com:3128${typeof input === 'object' ? ', written without `url`' : ''}`,
  })
  .refine(
    (url) => !URL.canParse(url) || new URL(url).username + new URL(url).password === '',
    'must hold no user and password: set HTTPS_PROXY in the template, from a Secret, instead',
  );

/** The proxy of the runner and the Docker daemon. */
export const proxy = z
  .strictObject({
    http: proxyUrl.optional(),
    https: proxyUrl.optional(),
    noProxy: z.array(z.string().min(1)).optional(),
  })
  .refine(
    ({ http, https }) => http !== undefined || https !== undefined,
    'needs http, https or both',
  );

/**
 * A ConfigMap in the pool's namespace with certificates (PEM) that runner and Docker daemon also
 * trust.
 */
export const caBundle = z.strictObject({
  configMap: z.string().min(1),
  key: z
    .string()
    .regex(
      /^[A-Za-z0-9._-]+\.crt$/,
      'must be a key that ends in .crt: the tools that update the trusted certificates look at no other file',
    )
    .default('ca.crt'),
});

export type Proxy = z.infer<typeof proxy>;
export type CaBundle = z.infer<typeof caBundle>;
