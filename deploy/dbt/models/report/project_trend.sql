-- The success rate of each project in the last four complete weeks, and in the four weeks before. Rates come
-- from sums: the mean of weekly rates would count a week with one build like a week with a hundred.
with recent as (
    select calendar.week, row_number() over (order by calendar.week desc) as nth_last
    from {{ source('docmirror', 'success_rate_daily') }} as daily
    inner join {{ source('docmirror', 'dim_dates') }} as calendar on calendar.day = daily.day
    group by calendar.week
    having bool_and(daily.is_complete)
)

select
    own.project_id,
    own.project_slug,
    sum(own.finished) filter (where recent.nth_last <= 4) as finished,
    sum(own.succeeded) filter (where recent.nth_last <= 4)::float8
        / nullif(sum(own.finished) filter (where recent.nth_last <= 4), 0) as success_rate,
    sum(own.succeeded) filter (where recent.nth_last > 4)::float8
        / nullif(sum(own.finished) filter (where recent.nth_last > 4), 0) as success_rate_before
from {{ source('docmirror', 'success_rate_daily_by_project') }} as own
inner join {{ source('docmirror', 'dim_dates') }} as calendar on calendar.day = own.day
inner join recent on recent.week = calendar.week
where recent.nth_last <= 8
group by own.project_id, own.project_slug
