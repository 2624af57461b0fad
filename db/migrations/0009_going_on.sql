-- What services need to go on at once when something that was away is back.

-- What a queued task waits for, as TYPE:ID of a breaker's subject: when that breaker lets go, the task is due at once.
alter table tasks add column held_by text;

-- Since when a breaker has been open, and since when a probe has been answered; null while nothing answers.
alter table breakers add column opened_at timestamptz, add column answered_at timestamptz;
