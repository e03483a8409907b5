select month, streaks, recovered, still_open, p25_hours, median_hours, p75_hours, closed_median_hours,
  breaks, breaks_recovered, breaks_p25_hours, breaks_median_hours
from report.time_to_recover
where project_id is null and type :of_all_or_type
  and month in :months and breaks > 0
order by month desc
