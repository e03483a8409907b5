-- The figures of each list; what the mirror has and a check found is from the newest refresh of the reports.
select of.resource, records as docmirror_mirrored_records, quarantined as docmirror_quarantined_records,
  checked as docmirror_checked_records, wrong as docmirror_wrong_records,
  (select total_count from sync.walks where walks.resource = of.resource and total_count is not null
   order by run_id desc limit 1) as docmirror_upstream_records,
  (select count(*) from sync.missing_records as missing where missing.resource = of.resource)
    as docmirror_missing_records,
  exists (select from sync.missing_records as missing where missing.resource = of.resource and held_until is not null)
    as docmirror_deletions_held_back
from report.freshness as of
