select walk.run_id, walk.resource, walk.walk, walk.reason, walk.started_at
from report.walks as walk
where walk.walk is not null and not walk.is_good and walk.started_at > :now::timestamptz - interval '7 days'
order by walk.run_id desc, walk.resource
limit 8 -- on the page
