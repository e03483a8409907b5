select version_id, project_id, version_slug, is_active, is_deleted, is_main from {{ docmirror_reports.exported('dim_versions') }}
