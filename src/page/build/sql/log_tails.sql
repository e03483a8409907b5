select name, length(unix) - length(translate(unix, E'\n\r', '')) + 1 as total, right(unix, :most::int) as tail, length(unix) <= :most::int as is_whole
from mirror.build_logs as log
cross join lateral (
  values ('setup', log.setup), ('setup_error', log.setup_error), ('output', log.output), ('error', log.error)
) as part (name, body)
cross join lateral (select replace(body, E'\r\n', E'\n') as unix) as read
where build_id = :id and body <> ''
