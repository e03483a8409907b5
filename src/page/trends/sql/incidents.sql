select hour, projects, projects_failing, projects_expected
  , count(*) over () as hours -- on the page
from report.incident_hours
where hour >= :first::date and hour < :after::date
order by hour desc
limit :most -- on the page
