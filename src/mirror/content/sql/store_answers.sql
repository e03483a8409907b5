insert into mirror.file_contents as kept (
  file_id, project_id, version, absolute_url, docs_url, url, http_status, reason, asked_at, asked_run_id, changed_run_id,
  etag, last_modified, fetched_at
)
select
  file_id, project_id, version, absolute_url, :docsUrl, url, http_status, reason, asked_at, :runId::bigint, :runId::bigint,
  etag, last_modified, fetched_at
from jsonb_to_recordset(:answers::text::jsonb) as answer (
  file_id text, project_id text, version text, absolute_url text, url text, http_status smallint, reason text,
  asked_at timestamptz, etag text, last_modified text, fetched_at timestamptz
)
on conflict (file_id) do update set
  project_id = excluded.project_id, version = excluded.version, absolute_url = excluded.absolute_url,
  docs_url = excluded.docs_url, url = excluded.url, http_status = excluded.http_status, reason = excluded.reason,
  asked_at = excluded.asked_at, asked_run_id = excluded.asked_run_id,
  -- Validators belong to the content of one address. Where a new address fails, those of the old one must go.
  etag = case when excluded.fetched_at is not null then excluded.etag when kept.url = excluded.url then kept.etag end,
  last_modified = case
    when excluded.fetched_at is not null then excluded.last_modified
    when kept.url = excluded.url then kept.last_modified
  end,
  fetched_at = coalesce(excluded.fetched_at, kept.fetched_at)
