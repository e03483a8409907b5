-- Counts every row of a list whose count was not kept yet, and keeps it.
insert into sync.lists (resource, live) values (:resource, (count_rows.sql))
on conflict (resource) do update set live = excluded.live
returning live
