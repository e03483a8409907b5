select project_slug, version_slug, type, finished, flips, flip_rate_by_chance, p_value_adjusted
  , count(*) over () as series -- on the page
from report.instability
where is_flaky :of_type
order by p_value, finished desc, project_slug, version_slug, type
limit 5 -- on the page
