with stale as (:stale), removed as (
  delete from sync.pages as page using stale where page.resource = stale.resource and page.seq = stale.seq
)
select distinct resource from stale where is_lost
