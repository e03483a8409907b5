-- Apart from report.failing_projects, so that no export, page or file of that one has names of people.
CREATE OR REPLACE VIEW report_people.failing_projects AS
SELECT failing.*, own.maintainers
FROM report.failing_projects AS failing
LEFT JOIN report_people.project_maintainers AS own ON own.project_id = failing.project_id;
