-- Title: How fresh the mirror is
-- Answers: Up to when do these figures include what happened at the service? One row for each resource.
-- Shown as: table
select resource, current_through, lag_s, replica_lag_s, is_whole, last_whole_at, records, quarantined, refreshed_at
from report.freshness
order by resource
