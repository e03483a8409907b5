select project_id, project_slug, default_version, is_deleted from {{ docmirror_reports.exported('dim_projects') }}
