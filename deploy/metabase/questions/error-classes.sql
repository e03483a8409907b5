-- Title: Why builds fail
-- Answers: Which kinds of failure affect the most projects? The rules for the classes are in report.error_rules.
-- Shown as: row of projects, failures by error_class
select error_class, count(distinct nullif(project_id, '-1')) as projects, count(*) as failures
from report.fact_builds
where failed = 1
  [[and triggered_on >= {{since}}::date]]
  [[and triggered_on <= {{until}}::date]]
  [[and {{project}} in (project_slug, project_id)]]
group by error_class
order by projects desc, failures desc, error_class
