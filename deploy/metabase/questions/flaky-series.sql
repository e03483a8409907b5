-- Title: Flaky series
-- Answers: Which series change between success and failure more often than by chance? Their last 20 finished builds count. Of all rows, 5 % are expected to be there by chance.
-- Shown as: table
select project_slug, project_id, version_slug, type, finished, failed, flips, flip_rate, flip_rate_by_chance, p_value_adjusted
from report.instability where is_flaky
order by p_value, project_slug, project_id, version_slug, type
