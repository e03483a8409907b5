{#- Each value of a column is a key of a relation. A null refers to nothing. -#}
{% macro rows_without(relation, key, model, column_name) -%}
  select model.{{ column_name }}
  from {{ model }} as model
  left join {{ relation }} as referred on referred.{{ key }} = model.{{ column_name }}
  where model.{{ column_name }} is not null and referred.{{ key }} is null
{%- endmacro %}

{% test in_dim_projects(model, column_name) %}
  {{ docmirror_reports.rows_without(source('docmirror', 'dim_projects'), 'project_id', model, column_name) }}
{% endtest %}

{% test in_dim_versions(model, column_name) %}
  {{ docmirror_reports.rows_without(source('docmirror', 'dim_versions'), 'version_id', model, column_name) }}
{% endtest %}

{% test in_dim_dates(model, column_name) %}
  {{ docmirror_reports.rows_without(source('docmirror', 'dim_dates'), 'day', model, column_name) }}
{% endtest %}

{% test in_fact_builds(model, column_name) %}
  {{ docmirror_reports.rows_without(source('docmirror', 'fact_builds'), 'build_id', model, column_name) }}
{% endtest %}

{% test in_runs(model, column_name) %}
  {{ docmirror_reports.rows_without(source('docmirror', 'runs'), 'run_id', model, column_name) }}
{% endtest %}
