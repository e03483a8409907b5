select version_id, version_slug, is_deleted from {{ docmirror_reports.exported('dim_versions') }}
