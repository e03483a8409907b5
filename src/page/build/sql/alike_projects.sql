select count(distinct project_id) as projects
from report.fact_builds
where failed = 1 and error_fingerprint = :print and project_id <> :project
  and triggered_on > (select triggered_on from report.fact_builds order by triggered_on desc nulls last limit 1) - 28
