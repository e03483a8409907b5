select version_id, version_slug, is_active, is_deleted from {{ docmirror_reports.exported('dim_versions') }}
