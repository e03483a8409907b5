-- The settings of the transaction of a refresh. They end with it.
set transaction isolation level repeatable read;
-- Projects are written before versions, and both may lose rows: only when both are written do they agree.
set constraints all deferred;
-- The next refresh computes again what a crash of the server loses.
set local synchronous_commit = off;
set local jit = off;
set local work_mem = '128MB';
-- A smaller sample: the plans depend on how many rows there are. Autovacuum takes a larger one soon.
set local default_statistics_target = 20;
-- A source joins more tables than the planner orders by default; without this, few builds cost as much as
-- all.
set local join_collapse_limit = 20;
set local from_collapse_limit = 20;
-- From a dozen tables on Postgres would search for a plan by chance, which takes longer than to try all.
set local geqo = off;
-- To compute a row costs more here than to pass it to another process, which the planner does not know.
set local parallel_tuple_cost = 0.001;
set local parallel_setup_cost = 100;
