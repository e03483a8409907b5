-- Claims the oldest notice that is due. The time of the next try is moved beyond the longest try.
update sync.notices set tries = tries + 1, error = :underWay, next_try_at = now() + :claimS * interval '1 s'
where id = (
  select id from sync.notices
  where delivered_at is null and given_up_at is null
    and (next_try_at <= now() or next_try_at > now() + :longestWait::interval)
  order by id limit 1 for update skip locked
)
returning id as "noticeId", message_id as id, type, data, tries,
  to_char(noted_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as timestamp
