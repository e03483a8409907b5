-- The server, and what this session may do there.
select current_setting('server_version') as version,
       current_setting('server_version_num')::int as number,
       current_setting('server_encoding') as encoding,
       current_user::text as user,
       pg_is_in_recovery() or current_setting('transaction_read_only')::bool as "isReadOnly"
