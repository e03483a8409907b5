select from jsonb_to_recordset(:known::text::jsonb) as known (relation text, "column" text)
where not exists (
  select from pg_attribute
  join pg_class as class on class.oid = attrelid
  join pg_namespace as space on space.oid = relnamespace
  where nspname = 'report' and relname = relation and attname = "column" and attnum > 0 and not attisdropped)
