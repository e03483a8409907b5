select coalesce(slug, id) as slug, coalesce(name, '') as name, count(*) over ()::int as all
from mirror.projects
where deleted_at is null
order by slug, id limit :most
