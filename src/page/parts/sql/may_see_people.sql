-- The name of a relation in a schema that is hidden from the role would be an error.
select case when has_schema_privilege(to_regnamespace('report_people')::oid, 'usage')
    and coalesce(current_setting('docmirror.people', true), '') <> 'off'
  then has_table_privilege(to_regclass('report_people.project_maintainers')::oid, 'select') end as "maySee"
