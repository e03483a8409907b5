{#- What to select from for one relation of the export. No other place depends on how an engine names files. -#}
{% macro exported(relation) -%}
  {{ return(adapter.dispatch('exported', 'docmirror_reports')(relation)) }}
{%- endmacro %}

{#- dbt renders the models that are disabled too, as these are on Postgres. -#}
{% macro default__exported(relation) -%}
  report.{{ relation }}
{%- endmacro %}

{% macro duckdb__exported(relation) -%}
  {%- set files = 'fact_builds/*/*.parquet' if relation == 'fact_builds' else relation ~ '/*.parquet' -%}
  read_parquet('{{ var('export_folder') | replace("'", "''") }}/{{ files }}', hive_partitioning = true, hive_types_autocast = false)
{%- endmacro %}

{% macro spark__exported(relation) -%}
  parquet.`{{ var('export_folder') | replace('`', '``') }}/{{ relation }}`
{%- endmacro %}
