-- Counts alone: a record in quarantine may be that of a user, and its reason may quote it.
CREATE OR REPLACE VIEW report.quarantine AS
SELECT resource, reason_kind, count(*) AS records, min(created_at) AS oldest_at, max(created_at) AS newest_at
FROM (
  SELECT resource, created_at, CASE
    WHEN list_offset IS NOT NULL THEN 'not_sent'
    WHEN reason = 'the record has no id that can be stored' THEN 'no_id'
    WHEN starts_with(reason, 'the record cannot be read') THEN 'unreadable'
    WHEN starts_with(reason, 'could not store ') THEN 'refused'
    ELSE 'other'
  END AS reason_kind
  FROM sync.quarantine WHERE resolved_at IS NULL
) AS waiting
GROUP BY resource, reason_kind;
