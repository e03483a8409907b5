select type,
  count(succeeded) filter (where triggered_on >= :first::date) as finished,
  sum(succeeded) filter (where triggered_on >= :first::date) as succeeded,
  count(succeeded) filter (where triggered_on < :first::date) as finished_before,
  sum(succeeded) filter (where triggered_on < :first::date) as succeeded_before
from report.fact_builds
where triggered_on between :from::date and :last::date :early
group by type
order by finished desc, type
