CREATE OR REPLACE VIEW report.flaky_series AS
SELECT * FROM report.instability WHERE is_flaky;
