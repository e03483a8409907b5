-- The day of the first build that is known, of which the service may list a part only. Days before 2000 are errors.
CREATE OR REPLACE VIEW rollup.first_day AS SELECT min(day) AS day FROM rollup.days WHERE day >= '2000-01-01';
