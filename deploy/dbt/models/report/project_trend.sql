-- The success rate of each project in the last four complete weeks, and in the four weeks before. Rates come
-- from sums: the mean of weekly rates would count a week with one build like a week with a hundred.
with recent as (
    select week, row_number() over (order by week desc) as nth_last
    from {{ source('docmirror', 'success_rate_weekly') }}
    where is_complete
)

select
    activity.project_id,
    activity.project_slug,
    sum(activity.finished) filter (where recent.nth_last <= 4) as finished,
    sum(activity.succeeded) filter (where recent.nth_last <= 4)::float8
        / nullif(sum(activity.finished) filter (where recent.nth_last <= 4), 0) as success_rate,
    sum(activity.succeeded) filter (where recent.nth_last > 4)::float8
        / nullif(sum(activity.finished) filter (where recent.nth_last > 4), 0) as success_rate_before
from {{ source('docmirror', 'project_activity') }} as activity
inner join recent on activity.week = recent.week
where recent.nth_last <= 8
group by activity.project_id, activity.project_slug
