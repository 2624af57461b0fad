-- For how long GitHub asked an App to repeat no deliveries (E1). A time that is over says nothing.
create table redelivery_pauses (
  app_id bigint primary key,
  paused_until timestamptz not null
);
