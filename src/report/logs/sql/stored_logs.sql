mirror.build_logs as log
join mirror.builds as build on build.id = log.build_id
join sync.build_states as known on known.state = sync.state_word(build.state) and known.is_final
cross join lateral (
  select coalesce(to_char((build.date at time zone :sourceTimezone::text) at time zone 'UTC', 'YYYY-MM'), 'undated') as month,
    (coalesce(octet_length(log.output), 0) + coalesce(octet_length(log.error), 0)
      + coalesce(octet_length(log.setup), 0) + coalesce(octet_length(log.setup_error), 0))::float8 as bytes
) as fact
