-- Title: What changes between success and failure
-- Answers: Which series change more often than dice would, over their last 20 finished builds? Ten at least, or nothing can be told.
-- Shown as: table
select project_slug, version_slug, type, finished, failed, flips, flip_rate, flip_rate_by_chance
from report.instability
where finished >= 10 and flip_rate > flip_rate_by_chance
order by flip_rate - flip_rate_by_chance desc, project_slug, version_slug, type
