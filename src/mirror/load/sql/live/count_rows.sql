-- The live records that a walk of the list should see.
select count(*) as live from mirror.RECORDS where IS_LISTED
