-- An engine may take the name of a month's folder for a date.
select *, left(cast(triggered_month as string), 7) as month from {{ docmirror_reports.exported('fact_builds') }}
