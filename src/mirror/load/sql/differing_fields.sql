select incoming.id, before::text, after::text
from :merged
cross join lateral (
  select jsonb_object_agg(key, to_jsonb(known) -> key) as before, jsonb_object_agg(key, value) as after
  from jsonb_each(to_jsonb(incoming))
  where key <> all (:notUpstream::text[]) and value is distinct from to_jsonb(known) -> key
    -- An embedded project has no URI, so its key is the field. The key for a URI changes with it, and is stored
    -- with it: a query about the past needs the record that the old URI named.
    and (key <> all (:uriKeys::text[])
      or to_jsonb(incoming) -> replace(key, '_id', '_uri') is distinct from to_jsonb(known) -> replace(key, '_id', '_uri'))
) as difference
