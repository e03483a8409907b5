-- The open builds to poll now, the longest overdue first, stuck ones last. These keep so many places even when enough others are due.
with due as (due_builds.sql), ranked as (
  select *, row_number() over (partition by is_stuck order by due_at, id) as turn,
    least(count(*) filter (where is_stuck) over (), :stuckPlaces::int) as reserved
  from due
)
select id, is_stuck as "isStuck" from ranked
where turn <= case when is_stuck then :maxStuck::int else :maxDetails::int - reserved end
order by is_stuck, due_at, id
limit :maxDetails::int
