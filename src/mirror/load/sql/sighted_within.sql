-- The ids of records that were sighted within the lag. A sighting of an earlier run that is later than the reply was dated by a clock
-- that was put back since: then the lag counts from when a walk first missed the record.
select gone.id
from jsonb_to_recordset(:gone::text::jsonb) as gone (id text, "askedAt" timestamptz)
join mirror.RECORDS as record on record.id = gone.id
left join sync.missing_records as missing on missing.resource = :resource and missing.record_id = gone.id
left join sync.open_builds as open
  on :resource = 'build' and open.build_id = gone.id and open.vanished_at is null
where greatest(
  case when record.changed_at <= "askedAt" or record.changed_run_id = :runId then record.changed_at
    else missing.noticed_at end,
  case when open.seen_at <= "askedAt" or open.run_id = :runId then open.seen_at end
) > "askedAt" - :replicaLagMs::float8 * interval '1 ms'
