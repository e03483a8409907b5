-- Title: Hours in which the platform was at fault
-- Answers: In which hours did far more projects fail than their own rates explain?
-- Shown as: table
select hour, projects, projects_failing, projects_expected, probability, builds, failed
from report.incident_hours
where true
  [[and hour >= {{since}}::date]]
  [[and hour < {{until}}::date + 1]]
order by hour desc
