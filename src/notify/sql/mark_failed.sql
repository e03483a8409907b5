-- Notes a failed try, and when the next one is, or gives the notice up. Does nothing after another claim.
update sync.notices set error = :error,
  next_try_at = greatest(
    now() + :waitMs::float8 * interval '1 ms',
    least(now() + :askedMs::float8 * interval '1 ms', noted_at + :triedFor::interval)
  ),
  given_up_at = case when :isGone or tries >= :mostTries
    or tries >= :leastTries and now() >= noted_at + :triedFor::interval then now() end
where id = :noticeId and tries = :tries and delivered_at is null
returning given_up_at is not null as "isGivenUp"
