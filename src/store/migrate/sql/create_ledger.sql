-- Not a migration: programs must be able to read it before they know which migrations there are.
create table if not exists sync.migrations
  (tag text primary key, hash text not null, applied_at timestamptz not null default now(), additive boolean not null default false);
comment on table sync.migrations is 'The migrations that this database has.';
comment on column sync.migrations.tag is 'The name of the file, without its ending.';
comment on column sync.migrations.hash is 'The SHA-256 of the file.';
comment on column sync.migrations.applied_at is 'When it was applied.';
comment on column sync.migrations.additive is 'True where programs that do not know this migration may still use the database.';
