-- The ids of records that the list need not show.
select id from mirror.RECORDS where not IS_LISTED and id > :last order by id limit :window
