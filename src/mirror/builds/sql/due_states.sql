-- The states of stuck builds that are due, and when the list of the state was last requested, if it showed any of them.
with due as (due_builds.sql)
select build.state, count(due.id) as due, count(*) as open,
  max(open.seen_at) filter (where open.request like '/api/v1/build/?%state=%') as "listedAt"
from sync.open_builds as open
join mirror.builds as build on build.id = open.build_id
left join due on due.id = open.build_id and due.is_stuck
where build.state is not null
group by build.state
having count(due.id) > 0
order by due desc, state
