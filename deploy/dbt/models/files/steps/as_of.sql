select exported_on, covered_through, covered_on from {{ docmirror_reports.exported('as_of') }}
