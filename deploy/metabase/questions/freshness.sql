-- Title: How current the mirror is
-- Answers: Up to when is what happened at the service in these figures? One row a resource.
-- Shown as: table
select resource, current_through, lag_s, is_whole, last_whole_at, records, quarantined, refreshed_at
from report.freshness
order by resource
