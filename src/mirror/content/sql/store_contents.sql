update mirror.file_contents as kept set
  title = page.title, text = page.text, anchors = page.anchors, content_hash = decode(page.content_hash, 'hex'),
  title_key = page.title_key, title_search = to_tsvector('simple', page.title_words),
  search = setweight(to_tsvector('simple', page.title_words), 'A') || to_tsvector('simple', page.words),
  changed_run_id = :runId::bigint
from jsonb_to_recordset(:contents::text::jsonb) as page (
  file_id text, title text, text text, anchors jsonb, content_hash text, title_key text, title_words text, words text
)
-- An equal page is not written again: its index entries cost the most of all this.
where kept.file_id = page.file_id and kept.content_hash is distinct from decode(page.content_hash, 'hex')
returning kept.file_id as id
