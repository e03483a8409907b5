select relation, "column", comment, case relkind when 'r' then 'TABLE' else 'VIEW' end as kind
from jsonb_to_recordset(:wanted::text::jsonb) as wanted (relation text, "column" text, comment text)
join pg_class as class on class.relnamespace = :schema::regnamespace and class.relname = wanted.relation
left join pg_attribute as attribute on attribute.attrelid = class.oid and attribute.attname = wanted.column and not attisdropped
where comment is distinct from
    case when wanted.column is null then obj_description(class.oid, 'pg_class') else col_description(class.oid, attnum) end
  and (wanted.column is null or attnum is not null)
