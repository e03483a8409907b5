select count(*) as series, count(distinct project_id) as projects
from report.streaks
where recovered_at > :now::timestamptz - interval '24 hours' and recovered_at <= :now::timestamptz
