select build_id, project_slug, version_slug, type, state, outcome, triggered_at, last_seen_at
from report.open_builds
order by triggered_at desc nulls last, build_id desc
limit 5 -- on the page
