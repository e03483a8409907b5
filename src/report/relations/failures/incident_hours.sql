CREATE OR REPLACE VIEW report.incident_hours AS
SELECT hour, projects, projects_failing, projects_expected, probability, builds, failed
FROM rollup.hours WHERE probability <= 0.00001;
