select field, left(shown.value::text, :most) as service, left(served.value::text, :most) as mirror
from jsonb_each(:shown::text::jsonb) as shown (field, value)
full join jsonb_each(:served::text::jsonb) as served (field, value) using (field)
where shown.value is distinct from served.value and field <> all (:leftOut::text[])
  -- A field that is not shown says nothing, and lists may lack what details have.
  and shown.value is not null and not (:isDetail and served.value is null)
