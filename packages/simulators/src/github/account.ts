export type AccountType = 'Organization' | 'User';

export type Account = {
  readonly id: number;
  login: string;
  readonly type: AccountType;
  /** False for plans without runner groups: making one is refused. */
  readonly hasRunnerGroups: boolean;
  readonly runnerGroups: RunnerGroup[];
};

export type GroupVisibility = 'all' | 'private' | 'selected';

export type RunnerGroup = {
  readonly id: number;
  name: string;
  visibility: GroupVisibility;
  allowsPublicRepositories: boolean;
  readonly isDefault: boolean;
  /** The repositories of a group of selected ones, by id. */
  readonly repositoryIds: Set<number>;
  /** Null: any workflow may run on its runners. */
  workflows: readonly string[] | null;
};

export type Repository = {
  readonly id: number;
  name: string;
  readonly owner: Account;
  readonly private: boolean;
  readonly archived: boolean;
};

export type Installation = {
  readonly id: number;
  readonly appId: number;
  readonly account: Account;
  selection: 'all' | 'selected';
  readonly repositoryIds: Set<number>;
  suspendedAt: string | null;
  readonly createdAt: string;
};
