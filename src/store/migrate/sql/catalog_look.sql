-- What the catalog says of our tables and of our role, before any of them is read.
select (has_ledger.sql) as "isMade",
  (select "table" from (hiding_tables.sql) as hiding limit 1) as hiding,
  case when not has_database_privilege(current_database(), 'temporary')
    then format('grant temporary on database %I to %I', current_database(), current_user) end as "temporaryGrant"
