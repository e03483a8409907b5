select * from {{ docmirror_reports.exported('fact_builds') }}
