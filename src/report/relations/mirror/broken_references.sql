-- By field, not by record: a reference may name a user.
CREATE OR REPLACE VIEW report.broken_references AS
SELECT reference.resource, reference.field, reference.target_resource, reference.status, count(*) AS broken,
  count(DISTINCT reference.uri) AS targets, min(reference.checked_at) AS first_checked_at, max(reference.checked_at) AS last_checked_at
FROM mirror.unresolved_references AS reference
GROUP BY reference.resource, reference.field, reference.target_resource, reference.status;
