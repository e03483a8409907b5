CREATE OR REPLACE VIEW report.stuck_builds AS
SELECT * FROM report.open_builds WHERE outcome = 'stuck';
