-- Title: Open and stuck builds
-- Answers: Which builds have not ended, and which of them are stuck? The age is the one at the last sighting.
-- Shown as: table
select build_id, project_slug, project_id, version_slug, type, state, outcome, triggered_at, last_seen_at, age_s
from report.open_builds
where true
  [[and outcome = {{outcome}}]]
order by age_s desc nulls last, build_id
