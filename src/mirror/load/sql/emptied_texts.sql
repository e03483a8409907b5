-- A build that was made again has another state, outcome, date or text. Else the service has only thrown the text away.
with given as (
  select log ->> 'build_id' as build_id, log - 'build_id' as texts, state, success, date
  from jsonb_to_recordset(:builds::text::jsonb) as one (log jsonb, state text, success boolean, date timestamp)
)
select build.id, jsonb_agg(field) filter (where is_emptied) as fields,
  bool_or(is_emptied and not coalesce(build.extra -> 'values' ? field, false)) as "isNew"
from given
join mirror.builds as build on build.id = given.build_id
  and (build.state, build.success, build.date) is not distinct from (given.state, given.success, given.date)
join mirror.build_logs as stored on stored.build_id = build.id
cross join lateral jsonb_each_text(to_jsonb(stored) - 'build_id') as known (field, text)
join lateral jsonb_each_text(texts) as new (field, text) using (field)
cross join lateral (select coalesce(new.text, '') = '' and known.text <> '' as is_emptied) as judged
group by build.id
having bool_or(is_emptied) and bool_and(coalesce(new.text, '') = '' or new.text = known.text)
