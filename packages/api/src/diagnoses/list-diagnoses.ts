import { findEntityByLogin } from '@paddock/db/people/find-by-name';
import { findDiagnosisFacts } from '@paddock/db/people/find-diagnosis-facts';
import { diagnoseEntity } from '@paddock/domain/entities/diagnose-entity';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';

const ID = /^[1-9]\d{0,14}$/;

export const listDiagnosesEndpoint = endpoint({
  name: 'listDiagnoses',
  method: 'GET',
  path: '/api/v1/diagnoses',
  summary:
    'Says what is wrong with an entity or a repository, and who can mend it, what decides most first.',
  access: 'read',
  status: 200,
  input: z.object({
    of: z
      .string()
      .max(300)
      .regex(/^[^/\s]+(\/[^/\s]+)?$/, 'must be a login, an id, or OWNER/NAME')
      .describe('A login, also a former one, an id, or OWNER/NAME of a repository'),
  }),
  output: z.object({
    entity: z.object({ id: z.int(), login: z.string().nullable() }).nullable(),
    items: z.array(
      z.object({
        name: z
          .string()
          .describe('As `not_installed`, `suspended`, `repository_not_selected` or `at_cap`'),
        sentence: z.string(),
        since: z.iso.datetime().nullable(),
        actor: z.enum(['wait', 'author', 'platform']),
        advice: z.string(),
      }),
    ),
  }),
  async answer({ db }, { of }) {
    const [login = '', repository = null] = of.split('/');
    const id = ID.test(login) ? Number(login) : await findEntityByLogin(db, login);
    const facts = await findDiagnosisFacts(db, {
      asked: { login, repository },
      entityId: id ?? null,
    });
    return {
      entity: facts.entity,
      items: diagnoseEntity(facts).map(({ since, ...found }) =>
        Object.assign(found, { since: since?.toISOString() ?? null }),
      ),
    };
  },
});
