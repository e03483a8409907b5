-- Who has the lease, or had it last, and the process that serves this session. Sets how long a takeover waits.
select set_config('lock_timeout', :lockTimeout, true), pg_backend_pid() as "backendPid",
  lease.name is not null as "isTaken",
  coalesce(sync.is_held(lease), false) as "isHeld", coalesce(until > '-infinity', false) as "isSilent",
  term, instance, pid, host, since, renewed_at
from (values (1)) as one left join sync.leases as lease on name = :name
