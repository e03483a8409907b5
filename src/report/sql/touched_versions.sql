-- A version is main by what its project says. The projects are up to date before it.
select id as version_id from touched where resource = 'version'
union
select version.version_id from touched
join report.dim_projects as project on project.project_id = touched.id
join report.dim_versions as version on version.project_id = touched.id
where resource = 'project' and version.is_main <> rollup.is_main(version.version_slug, coalesce(project.default_version, ''))
