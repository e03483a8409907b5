{#- The five counts of a group. Builds that have not finished, and cancelled ones, have no result. -#}
{% macro counts_of_builds() -%}
  count(*) as builds, count(succeeded) as finished,
  cast(coalesce(sum(succeeded), 0) as bigint) as succeeded, cast(coalesce(sum(failed), 0) as bigint) as failed,
  count(*) filter (where outcome = 'cancelled') as cancelled
{%- endmacro %}

{% macro sums_of_counts() -%}
  cast(sum(builds) as bigint) as builds, cast(sum(finished) as bigint) as finished,
  cast(sum(succeeded) as bigint) as succeeded, cast(sum(failed) as bigint) as failed,
  cast(sum(cancelled) as bigint) as cancelled
{%- endmacro %}

{#- The mean of the projects' rates, without the unknown project, and how many projects there are. -#}
{% macro project_mean() -%}
  avg(cast(succeeded as double) / nullif(finished, 0)) filter (where project_id <> '-1') as success_rate_project_mean,
  count(*) filter (where project_id <> '-1') as projects
{%- endmacro %}

{#- A day that no sync has covered has null counts; a covered day without builds has 0. -#}
{% macro known_counts(columns, is_covered) -%}
  {%- for column in columns %}
  case when counted.{{ column }} is not null then counted.{{ column }} when {{ is_covered }} then 0 end as {{ column }}
  {%- if not loop.last %},{% endif -%}
  {%- endfor -%}
{%- endmacro %}
