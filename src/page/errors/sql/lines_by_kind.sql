with counted as (
  :counted
), kind as (
  select *, row_number() over (order by :order, error_fingerprint) as kind_place
    , count(*) over () as kinds -- on the page
  from (
    select own.error_fingerprint, known.error_class, known.example, known.first_triggered_at,
      own.failures, own.failures_before, own.projects, of_line.lines, of_line.rise
    from counted as own
    join (
      select error_fingerprint, count(*) as lines, max(projects - projects_before) as rise
      from counted
      where error_line_id is not null and failures > 0
      group by error_fingerprint
    ) as of_line using (error_fingerprint)
    join report.error_fingerprints as known using (error_fingerprint)
    where own.error_line_id is null
  ) as of_kind
), line as (
  select *, row_number() over (
    partition by error_fingerprint order by :lineOrder, error_line_id
  ) as place
  from counted
  where failures > 0 and :isLine
)
select kind.error_class, kind.error_fingerprint, report.error_mask(kind.example) as mask, kind.lines as kind_lines,
  kind.failures as kind_failures, kind.failures_before as kind_failures_before, kind.projects as kind_projects,
  line.error_line_id, known_line.error_line, line.failures, line.failures_before, line.projects,
  known_line.first_triggered_at, known_line.last_triggered_at, known_line.last_build_id
  , kinds, (select max(rest.failures) from line as rest where rest.error_fingerprint = kind.error_fingerprint and rest.place > :few) as most_of_rest -- on the page
from kind
join line using (error_fingerprint)
join report.error_lines as known_line using (error_line_id)
where kind_place > :from and kind_place <= :from + :perPage and place <= :few -- on the page
order by kind_place, place
