with given as (
  select * from jsonb_to_recordset(:states::text::jsonb) as given (state text, stage text, is_final boolean, source text)
), gone as (
  delete from sync.build_states as known
  where source <> 'learned' and not exists (select from given where given.state = known.state)
)
insert into sync.build_states as known (state, stage, is_final, source)
select state, stage, is_final, source from given
on conflict (state) do update set
  stage = excluded.stage, is_final = excluded.is_final, source = excluded.source, run_id = null
where (known.stage, known.source) <> (excluded.stage, excluded.source)
