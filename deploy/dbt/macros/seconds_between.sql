{#- Seconds from one moment to a later one, to the microsecond. -#}
{% macro seconds_between(earlier, later) -%}
  {{ return(adapter.dispatch('seconds_between', 'docmirror_reports')(earlier, later)) }}
{%- endmacro %}

{% macro default__seconds_between(earlier, later) -%}
  extract(epoch from {{ later }} - {{ earlier }})
{%- endmacro %}

{% macro duckdb__seconds_between(earlier, later) -%}
  cast(epoch_us({{ later }}) - epoch_us({{ earlier }}) as double) / 1000000
{%- endmacro %}

{% macro spark__seconds_between(earlier, later) -%}
  cast(unix_micros({{ later }}) - unix_micros({{ earlier }}) as double) / 1000000
{%- endmacro %}
