select held.sha256, log.* from unnest(:ids::text[], :hashes::text[]) as held (build_id, sha256)
cross join lateral (
  select log.build_id, not build.success as is_failed,
    (coalesce(pg_column_size(log.output), 0) + coalesce(pg_column_size(log.error), 0)
      + coalesce(pg_column_size(log.setup), 0) + coalesce(pg_column_size(log.setup_error), 0))::float8 as size
  from :storedLogs
  where log.build_id = held.build_id and :isOld and month = :month and :logHash = decode(held.sha256, 'hex')
  -- Each log is looked up by itself. Else Postgres would read the texts of all logs.
  offset 0 :lock
) as log
