-- Takes pages out of the index. Their rows stay, with the reason.
update mirror.file_contents set
  title = null, text = null, anchors = null, etag = null, last_modified = null, fetched_at = null, content_hash = null,
  title_key = null, title_search = null, search = null, changed_run_id = :runId::bigint
where file_id = any (:fileIds::text[]) and content_hash is not null
