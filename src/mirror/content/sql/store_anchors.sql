insert into mirror.file_anchors (file_id, position, search)
select file_id, position, to_tsvector('simple', words)
from jsonb_to_recordset(:anchors::text::jsonb) as anchor (file_id text, position integer, words text)
where words <> ''
