-- Title: Flaky series
-- Answers: Which series change between success and failure more often than by chance? Their last 20 finished builds count. Series with fewer than ten are left out.
-- Shown as: table
select project_slug, project_id, version_slug, type, finished, failed, flips, flip_rate, flip_rate_by_chance
from report.instability
where finished >= 10 and flip_rate > flip_rate_by_chance
order by flip_rate - flip_rate_by_chance desc, project_slug, project_id, version_slug, type
