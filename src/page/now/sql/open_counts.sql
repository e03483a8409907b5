select count(*) as builds,
  count(*) filter (where outcome = 'stuck') as stuck,
  count(*) filter (where outcome = 'stuck' and triggered_at > :now::timestamptz - interval '24 hours') as lately,
  min(triggered_at) filter (where outcome = 'stuck') as oldest
from report.open_builds
