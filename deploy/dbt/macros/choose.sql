{#- In how many ways k of n can be chosen; n is at most 20. -#}
{% macro choose(n, k) -%}
  case when {{ k }} <= {{ n }} then cast(factorial(cast({{ n }} as int)) as double)
    / factorial(cast({{ k }} as int)) / factorial(cast(greatest({{ n }} - {{ k }}, 0) as int)) else 0e0 end
{%- endmacro %}
