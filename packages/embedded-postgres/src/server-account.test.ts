import { describe, expect, test } from '@jest/globals';
import { parseAccount } from './server-account.ts';

const ACCOUNTS =
  'root:x:0:0:root:/root:/bin/bash\nnobodys-friend:x:7:7::/:/bin/sh\nnobody:x:65534:65533:nobody:/nonexistent:/bin/false\n';

describe('the account that runs PostgreSQL', () => {
  test('is found by its whole name, with user and group', () => {
    expect(parseAccount(ACCOUNTS, 'nobody')).toEqual({ uid: 65534, gid: 65533 });
  });

  test('is undefined when the list lacks the name or its line makes no sense', () => {
    expect(parseAccount(ACCOUNTS, 'postgres')).toBeUndefined();
    expect(parseAccount('nobody:x:many:some', 'nobody')).toBeUndefined();
    expect(parseAccount('nobody:x', 'nobody')).toBeUndefined();
  });
});
