select error_fingerprint, day, sum(failures) as failures
from report.error_fingerprints_daily
where :isShown
  and :isKind
group by error_fingerprint, day
