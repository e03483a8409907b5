-- The exact test of runs by Wald and Wolfowitz for each combination of counts that a series has, and what is left of it after
-- the correction by Benjamini and Hochberg for the number of series that were tried. One row a combination.
select recent_finished, recent_succeeded, recent_flips, p_value,
  min(p_value * all_series / place) over (order by p_value desc) as p_value_adjusted
from (
  select *, sum(series) over () as all_series, sum(series) over (order by p_value) as place
  from (
    select recent_finished, recent_succeeded, recent_flips, series,
      sum(ways) / {{ docmirror_reports.choose('recent_finished', 'recent_succeeded') }} as p_value
    from (
      select tried.*, {{ docmirror_reports.choose('succeeded - 1', 'half') }} * {{ docmirror_reports.choose('failed - 1', 'rest') }}
        + {{ docmirror_reports.choose('succeeded - 1', 'rest') }} * {{ docmirror_reports.choose('failed - 1', 'half') }} as ways
      from (
        select recent_finished, recent_succeeded, recent_flips, recent_succeeded as succeeded, recent_finished - recent_succeeded as failed,
          count(*) as series
        from {{ ref('series') }}
        where recent_succeeded > 0 and recent_succeeded < recent_finished
        group by recent_finished, recent_succeeded, recent_flips
      ) as tried
      -- Runs of successes and of failures take turns, so there are as many of both, or one more of those that come first.
      inner join (
        values {% for flip in range(1, 20) %}({{ flip }}, {{ flip // 2 }}, {{ (flip - 1) // 2 }}){{ ', ' if not loop.last }}{% endfor %}
      ) as flip (flips, half, rest) on flip.flips >= tried.recent_flips
    ) as counted
    group by recent_finished, recent_succeeded, recent_flips, series
  ) as tested
) as ranked
