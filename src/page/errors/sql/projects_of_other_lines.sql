select error_fingerprint, count(distinct project_id) as projects
from report.fact_builds
where failed = 1 and project_id <> '-1'
    and triggered_on between :first::date and :last::date:chosen
  and :isKind
  and not :isLine
group by error_fingerprint
