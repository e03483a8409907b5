select error_fingerprint, day, sum(failures) as failures
from report.error_fingerprints_daily
where day between :start::date and :last::date
  and :isKind
group by error_fingerprint, day
