-- Other answers hang on a fact by these columns, by its new values and by its old ones.
create temporary table affected on commit drop as
select distinct place.*
from changed
cross join lateral (values
  (project_id, version_id, type, reference, triggered_at, triggered_on, error_fingerprint),
  (old_project_id, old_version_id, old_type, old_reference, old_triggered_at, old_triggered_on, old_error_fingerprint)
) as place (project_id, version_id, type, reference, triggered_at, day, error_fingerprint)
