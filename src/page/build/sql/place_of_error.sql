select place.*
from mirror.build_logs as log
cross join lateral report.error_place(log.error, log.setup_error, log.output, log.setup) as place
where build_id = :id
