select project_id, project_slug, is_deleted from {{ docmirror_reports.exported('dim_projects') }}
