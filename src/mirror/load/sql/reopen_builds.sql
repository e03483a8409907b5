insert into sync.open_builds (build_id, since, seen_at, run_id, request)
select build.id, entered.at, coalesce(entered.asked_at, entered.not_after), entered.run_id, entered.request
from mirror.builds as build
cross join lateral (
  select transition.*, case when seq = 1 and isfinite(not_before) then not_before else not_after end as at
  from mirror.build_transitions as transition
  where transition.build_id = build.id order by seq desc limit 1
) as entered
where build.deleted_at is null and sync.state_word(build.state) = any (:states::text[])
on conflict do nothing
