-- Lets notices that were given up or wait be tried now, but none that is being sent.
with waiting as (
  select id, given_up_at is not null as was_given_up from sync.notices
  where delivered_at is null and (given_up_at is not null or tries > 0)
    and not (error = :underWay and given_up_at is null and next_try_at > now())
  order by id for update
), again as (
  update sync.notices set given_up_at = null, tries = 0, next_try_at = now()
  from waiting where notices.id = waiting.id returning was_given_up
)
select count(*) filter (where was_given_up)::int as "givenUp" from again
