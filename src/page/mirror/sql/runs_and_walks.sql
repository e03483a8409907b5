select (select sum(by.rounds) from report.walks as walk join report.runs as by on by.run_id = walk.run_id
    where walk.walk is not null and walk.started_at > :now::timestamptz - interval '7 days') as walks,
  (select sum(rounds) from report.runs) as runs,
  (select count(*) from report.walks as walk where walk.walk is not null and not walk.is_good
    and walk.started_at > :now::timestamptz - interval '7 days') as not_good
