{#- The success rate of counts, and its 95 % interval by Wilson: the formulas of report.wilson_low and _high. -#}
{% macro rates(succeeded, finished) -%}
  cast({{ succeeded }} as double) / nullif({{ finished }}, 0) as success_rate,
  case when {{ finished }} > 0 and {{ succeeded }} = 0 then 0e0 when {{ finished }} > 0 then greatest(0e0, (
    {{ succeeded }} + 1.9208e0 - {{ docmirror_reports.wilson_width(succeeded, finished) }}
  ) / ({{ finished }} + 3.8416e0)) end as success_rate_low,
  case when {{ finished }} > 0 and {{ succeeded }} = {{ finished }} then 1e0 when {{ finished }} > 0 then least(1e0, (
    {{ succeeded }} + 1.9208e0 + {{ docmirror_reports.wilson_width(succeeded, finished) }}
  ) / ({{ finished }} + 3.8416e0)) end as success_rate_high
{%- endmacro %}

{% macro wilson_width(succeeded, finished) -%}
  1.96e0 * sqrt(cast({{ succeeded }} as double) * ({{ finished }} - {{ succeeded }}) / {{ finished }} + 0.9604e0)
{%- endmacro %}
