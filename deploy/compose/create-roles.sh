#!/bin/sh
# Postgres' image runs this once, when the database is made. `docmirror` owns its database and is no superuser.
# `docmirror_worker` may do nothing until `docmirror migrate --worker docmirror_worker`, and `grafana` may read nothing
# until `docmirror grant-reader grafana`.
set -eu
# psql takes them from its environment, since others can see its command line.
DATABASE_PASSWORD=$(cat /run/secrets/database_password)
WORKER_PASSWORD=$(cat /run/secrets/worker_password)
READER_PASSWORD=$(cat /run/secrets/reader_password)
export DATABASE_PASSWORD WORKER_PASSWORD READER_PASSWORD
psql --no-psqlrc --set=ON_ERROR_STOP=1 --username="${POSTGRES_USER:-postgres}" --dbname=postgres <<'SQL'
\getenv database_password DATABASE_PASSWORD
\getenv worker_password WORKER_PASSWORD
\getenv reader_password READER_PASSWORD
-- A log of statements would have the passwords.
set log_statement = none;
set log_min_duration_statement = -1;
set log_min_error_statement = panic;
create role docmirror login password :'database_password';
create role docmirror_worker login password :'worker_password';
create role grafana login password :'reader_password';
alter role grafana set default_transaction_read_only = on;
alter role grafana set statement_timeout = '60s';
alter role grafana set timezone = 'UTC';
create database docmirror owner docmirror template template0 encoding 'UTF8' locale 'C.UTF-8';
revoke all on database docmirror from public;
SQL
