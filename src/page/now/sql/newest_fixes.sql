select project_id, project_slug, version_slug, type, recovered_at, recovered_build_id, broke_at, failures, error_class
from report.recoveries
where recovered_at > :now::timestamptz - interval '24 hours' and recovered_at <= :now::timestamptz
order by recovered_at desc, first_failed_build_id
limit 100 -- on the page
