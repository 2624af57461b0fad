import type { EndedSessions, MadeToken, Token } from '../answers.ts';
import { Act } from '../parts/act.tsx';
import { Chip } from '../parts/chip.tsx';
import { ListView } from '../parts/list.tsx';
import type { Column } from '../parts/table.tsx';
import { Ago } from '../parts/time.tsx';
import type { ViewProps } from './view.ts';

/** Who may ask and act. A new token is shown once. */
export const Tokens = ({ query }: ViewProps) => (
  <ListView<Token>
    title="Tokens"
    path="/tokens"
    query={query}
    columns={COLUMNS}
    keyOf={({ name }) => name}
    none="There is none."
    tables={['tokens']}
    more={acts}
  >
    <Act
      label="New token …"
      method="POST"
      path="/tokens"
      fields={[
        { name: 'name', label: 'Name', isRequired: true },
        { name: 'access', label: 'Access', of: ['read', 'operate'] },
      ]}
      inBody={['name', 'access']}
      shown={({ name, token }: MadeToken) => (
        <>
          <p>The token {name}. Only this answer shows it:</p>
          <pre tabIndex={0}>{token}</pre>
        </>
      )}
    >
      Makes a token with which a program or a person may ask, or ask and act.
    </Act>
    <Act
      label="Sign a person out …"
      method="DELETE"
      path={({ person = '' }) => `/sessions/${encodeURIComponent(person)}`}
      fields={[
        {
          name: 'person',
          label: 'Person, as the identity provider names them',
          isRequired: true,
        },
      ]}
      shown={({ person, ended }: EndedSessions) => (
        <p>
          {ended} sessions of {person} have ended.
        </p>
      )}
      isGrave
    >
      Ends all sessions of a person who signed in by the identity provider. The person may sign in
      again while the groups allow it.
    </Act>
  </ListView>
);

const COLUMNS: readonly Column<Token>[] = [
  { name: 'Name', of: ({ name }) => name },
  {
    name: 'State',
    of: ({ revokedAt }) =>
      revokedAt === null ? <Chip tone="good">good</Chip> : <Chip tone="over">revoked</Chip>,
  },
  {
    name: 'Access',
    isWide: true,
    of: ({ access, narrowedTo }) =>
      narrowedTo === null
        ? access
        : `${narrowedTo.endpoint} of ${Object.values(narrowedTo.subject).join(' ')}`,
  },
  {
    name: 'Last used',
    isNumber: true,
    of: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : <Ago at={lastUsedAt} />),
  },
  { name: 'Made by', of: ({ createdBy }) => createdBy },
  { name: 'Made', isNumber: true, of: ({ createdAt }) => <Ago at={createdAt} /> },
];

const acts = (again: () => void): readonly Column<Token>[] => [
  {
    name: 'Act',
    of: ({ name, revokedAt }) =>
      revokedAt === null && (
        <Act
          label="Revoke …"
          method="DELETE"
          path={`/tokens/${encodeURIComponent(name)}`}
          again={again}
          isGrave
        >
          Refuses the token {name} from the next request on, and ends its sessions. Its name stays
          taken.
        </Act>
      ),
  },
];
