select day, week, iso_week from {{ docmirror_reports.exported('dim_dates') }}
