-- Title: Time to recover
-- Answers: How long until a break is repaired, by month? Half of the breaks of the month were repaired after breaks_median_hours. Open ones count for as long as they are known to be broken. What was born broken had never worked, and is counted apart.
-- Shown as: table
select month, breaks, breaks - breaks_recovered as still_open, breaks_p25_hours, breaks_median_hours, streaks - breaks as born_broken
from report.time_to_recover
where project_id is null and type is null and month is not null
order by month desc
