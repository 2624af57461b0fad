-- When a person last had a repository compared with GitHub: operations say it for a day only. Additive.

alter table repositories add column resynced_at timestamptz;
