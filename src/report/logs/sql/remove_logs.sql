with held as materialized (:held), gone as (
  delete from mirror.build_logs as log using held where log.build_id = held.build_id
  returning log.build_id, held.sha256, held.size,
    case when held.is_failed then rollup.error_line(log.error, log.setup_error, log.output, log.setup) end as error_line
), file as (
  insert into mirror.log_files (sha256, folder, path)
  select decode(:sha256, 'hex'), :folder, :path where exists (select from gone)
  on conflict (sha256) do update set folder = excluded.folder, path = excluded.path
  returning id
), noted as (
  insert into mirror.archived_logs (build_id, file_id, hash, error_line, removed_at)
  select gone.build_id, file.id, decode(gone.sha256, 'hex'), gone.error_line, now() from gone, file
)
select count(*)::float8 as removed, coalesce(sum(size), 0) as bytes from gone
