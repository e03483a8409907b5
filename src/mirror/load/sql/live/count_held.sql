-- The live records that are missing from the list while their deletion is held back.
select count(*) as held from mirror.RECORDS where IS_LISTED and id in (held_ids.sql)
