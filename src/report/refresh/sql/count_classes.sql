-- The failures of each class, the most frequent first. Equal lines are classified once; the rules are matched against the excerpt.
select case when :byRules then (rollup.describe_line(coalesce(line.error_line, ''))).error_class else line.error_class end as class,
  sum(failures)::bigint as failures
from (
  select error_line, error_class, count(*) as failures from rollup.builds
  where failed = 1 group by 1, 2
) as line
group by 1 order by 2 desc, 1
