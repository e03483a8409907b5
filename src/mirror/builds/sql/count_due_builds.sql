-- The due builds that this run has not asked for.
select count(*) as due from (due_builds.sql) as due
where not exists (
  select from sync.open_builds where build_id = id
    and asked_at between :notSeenSince::timestamptz and :now::timestamptz)
