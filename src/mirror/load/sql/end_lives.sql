-- Puts the states of builds aside whose id another build has now. It is not open any more either, and its version is not that of the other.
with past as (
  delete from mirror.build_transitions where build_id = any (:ids::text[]) returning *
), kept as (
  delete from mirror.kept_versions where build_id = any (:ids::text[])
), closed as (
  delete from sync.open_builds where build_id = any (:ids::text[])
)
insert into mirror.past_transitions
  (build_id, life, seq, from_state, to_state, not_before, not_after, anomaly, run_id, request, asked_at, rule,
   previous_run_id, previous_request)
select
  past.build_id, builds.life, seq, from_state, to_state, not_before, not_after, anomaly, run_id, request, asked_at, rule,
  previous_run_id, previous_request
from past
join mirror.builds on builds.id = past.build_id
