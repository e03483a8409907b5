-- The notices that wait, oldest first, and those that ended last, newest first: at most so many of each.
select message_id, type, data ->> 'summary' as summary,
  case when delivered_at is not null then 'delivered' when given_up_at is not null then 'given up' else 'waiting' end as state,
  noted_at, tries, case when coalesce(delivered_at, given_up_at) is null then next_try_at end as next_try_at,
  coalesce(delivered_at, given_up_at) as ended_at, error
from (
  (select * from sync.notices where delivered_at is null and given_up_at is null order by id limit :limit)
  union all
  (select * from sync.notices where coalesce(delivered_at, given_up_at) is not null
   order by coalesce(delivered_at, given_up_at) desc, id desc limit :limit)
) as shown
order by ended_at desc nulls first, case when coalesce(delivered_at, given_up_at) is null then id end, id desc
