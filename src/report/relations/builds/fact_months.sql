CREATE OR REPLACE VIEW report.fact_months AS
SELECT nullif(month, '') AS month, revision::text AS revision FROM rollup.fact_months;
