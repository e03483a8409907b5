{#- A CTE `changed`: the builds of those months whose revision in the export is not the one that the rows of this model have. Rows
    keep their revision, so a run that was killed leaves nothing to remember. A month without builds is one row of nulls, which
    replaces what it had. Revisions are read before builds: where a new export comes in between, the next run sees its months. -#}
{% macro changed_builds() -%}
  {%- set months = run_query(docmirror_reports.changed_months()).rows if execute else [] -%}
changed as (
  select *
  from (
    values (cast(null as string), cast(null as string))
    {%- for month, revision in months %}, ('{{ month }}', {{ "'" ~ revision ~ "'" if revision else 'null' }}){% endfor %}
  ) as outdated (month, revision)
  left join (
    select * from {{ ref('builds') }} where month in ('none'{% for month, _ in months %}, '{{ month }}'{% endfor %})
  ) as build using (month)
  where month is not null
)
{%- endmacro %}

{% macro changed_months() -%}
  select distinct {% if is_incremental() -%}
    coalesce(exported.month, built.month) as month, exported.revision
  from {{ docmirror_reports.exported('fact_months') }} as exported
  full join (select distinct month, revision from {{ this }}) as built on built.month = exported.month
  where not coalesce(exported.revision = built.revision, false)
  {%- else -%}
    month, revision from {{ docmirror_reports.exported('fact_months') }}
  {%- endif %}
{%- endmacro %}
