-- Title: Time to recover
-- Answers: How long until builds succeed again, by month? Half of the streaks of failures that began in the month were over after median_hours. Open streaks count for as long as they are known to be broken.
-- Shown as: table
select month, streaks, still_open, p25_hours, median_hours, p75_hours
from report.time_to_recover
where project_id is null and type is null and month is not null
order by month desc
