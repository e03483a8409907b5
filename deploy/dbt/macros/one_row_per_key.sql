{#- No two rows have one key: the columns that the relation's `meta` names. As a test without arguments it is written
    alike in every version of dbt. -#}
{% test one_row_per_key(model) %}
  {%- set key = ['null'] -%}
  {%- if execute -%}
    {%- set nodes = graph.sources.values() | list + graph.nodes.values() | list -%}
    {%- set key = (nodes | selectattr('relation_name', 'defined') | selectattr('relation_name', 'equalto', model | string) | first).config.meta.key -%}
  {%- endif %}
  select {{ key | join(', ') }}, count(*) as times
  from {{ model }}
  group by {{ key | join(', ') }}
  having count(*) > 1
{% endtest %}
