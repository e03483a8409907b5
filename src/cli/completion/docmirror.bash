# Completion of docmirror for bash, made by `docmirror completion bash`.
_docmirror() {
  local cur=${COMP_WORDS[COMP_CWORD]} at=$((COMP_CWORD - 1)) command= place=0 kind= words= flags= i word line
  # Readline makes a word of its own of the sign in --flag=value.
  if [[ $cur == '=' ]]; then cur=; elif [[ ${COMP_WORDS[at]} == '=' ]]; then at=$((at - 1)); fi
  for ((i = 1; i <= at; i++)); do
    word=${COMP_WORDS[i]}
    case "$command $word" in
      'demo --data-dir'|\
      'demo --source-timezone'|\
      'demo --http-host'|\
      'demo --http-port'|\
      'demo --http-allowed-hosts'|\
      'demo --log-level'|\
      'demo --log-format'|\
      'sync --database-url'|\
      'sync --database-password'|\
      'sync --data-dir'|\
      'sync --base-url'|\
      'sync --contact'|\
      'sync --page-size'|\
      'sync --rate'|\
      'sync --concurrency'|\
      'sync --timeout-ms'|\
      'sync --retries'|\
      'sync --max-body-mb'|\
      'sync --full-every-days'|\
      'sync --source-timezone'|\
      'sync --stuck-after'|\
      'sync --final-states'|\
      'sync --stale-after'|\
      'sync --max-delete-ratio'|\
      'sync --delete-held-after'|\
      'sync --replica-lag'|\
      'sync --ignored-fields'|\
      'sync --leave-out'|\
      'sync --verify-sample'|\
      'sync --docs-url'|\
      'sync --content-budget'|\
      'sync --webhook-url'|\
      'sync --webhook-secret'|\
      'sync --webhook-format'|\
      'sync --notice-types'|\
      'sync --notice-projects'|\
      'sync --log-level'|\
      'sync --log-format'|\
      'sync --resource'|\
      'sync --metrics-file'|\
      'watch --database-url'|\
      'watch --database-password'|\
      'watch --data-dir'|\
      'watch --base-url'|\
      'watch --contact'|\
      'watch --page-size'|\
      'watch --rate'|\
      'watch --concurrency'|\
      'watch --timeout-ms'|\
      'watch --retries'|\
      'watch --max-body-mb'|\
      'watch --watch-cron'|\
      'watch --timezone'|\
      'watch --source-timezone'|\
      'watch --stuck-after'|\
      'watch --final-states'|\
      'watch --stale-after'|\
      'watch --replica-lag'|\
      'watch --ignored-fields'|\
      'watch --webhook-url'|\
      'watch --webhook-secret'|\
      'watch --webhook-format'|\
      'watch --notice-types'|\
      'watch --notice-projects'|\
      'watch --log-level'|\
      'watch --log-format'|\
      'watch --metrics-file'|\
      'worker --database-url'|\
      'worker --database-password'|\
      'worker --data-dir'|\
      'worker --database-limit'|\
      'worker --base-url'|\
      'worker --contact'|\
      'worker --page-size'|\
      'worker --rate'|\
      'worker --concurrency'|\
      'worker --timeout-ms'|\
      'worker --retries'|\
      'worker --max-body-mb'|\
      'worker --sync-cron'|\
      'worker --full-every-days'|\
      'worker --watch-cron'|\
      'worker --timezone'|\
      'worker --source-timezone'|\
      'worker --stuck-after'|\
      'worker --final-states'|\
      'worker --stale-after'|\
      'worker --max-delete-ratio'|\
      'worker --delete-held-after'|\
      'worker --replica-lag'|\
      'worker --ignored-fields'|\
      'worker --leave-out'|\
      'worker --verify-sample'|\
      'worker --docs-url'|\
      'worker --content-budget'|\
      'worker --http-host'|\
      'worker --http-port'|\
      'worker --http-allowed-hosts'|\
      'worker --http-rate'|\
      'worker --http-cors'|\
      'worker --backup-cron'|\
      'worker --backup-dir'|\
      'worker --backup-keep'|\
      'worker --export-cron'|\
      'worker --export-dir'|\
      'worker --export-logs-dir'|\
      'worker --prune-cron'|\
      'worker --history-keep'|\
      'worker --webhook-url'|\
      'worker --webhook-secret'|\
      'worker --webhook-format'|\
      'worker --notice-types'|\
      'worker --notice-projects'|\
      'worker --log-level'|\
      'worker --log-format'|\
      'serve --database-url'|\
      'serve --database-password'|\
      'serve --read-url'|\
      'serve --data-dir'|\
      'serve --database-limit'|\
      'serve --sync-cron'|\
      'serve --watch-cron'|\
      'serve --timezone'|\
      'serve --source-timezone'|\
      'serve --stuck-after'|\
      'serve --stale-after'|\
      'serve --http-host'|\
      'serve --http-port'|\
      'serve --http-allowed-hosts'|\
      'serve --http-rate'|\
      'serve --http-cors'|\
      'serve --backup-cron'|\
      'serve --export-cron'|\
      'serve --prune-cron'|\
      'serve --log-level'|\
      'serve --log-format'|\
      'status --database-url'|\
      'status --database-password'|\
      'status --data-dir'|\
      'status --database-limit'|\
      'status --sync-cron'|\
      'status --watch-cron'|\
      'status --timezone'|\
      'status --source-timezone'|\
      'status --stuck-after'|\
      'status --stale-after'|\
      'status --backup-cron'|\
      'status --export-cron'|\
      'status --prune-cron'|\
      'status --log-level'|\
      'status --log-format'|\
      'doctor --database-url'|\
      'doctor --database-password'|\
      'doctor --data-dir'|\
      'doctor --database-limit'|\
      'doctor --base-url'|\
      'doctor --contact'|\
      'doctor --rate'|\
      'doctor --timeout-ms'|\
      'doctor --retries'|\
      'doctor --max-body-mb'|\
      'doctor --source-timezone'|\
      'doctor --stale-after'|\
      'doctor --ignored-fields'|\
      'doctor --log-level'|\
      'doctor --log-format'|\
      'verify --database-url'|\
      'verify --database-password'|\
      'verify --data-dir'|\
      'verify --base-url'|\
      'verify --contact'|\
      'verify --rate'|\
      'verify --timeout-ms'|\
      'verify --retries'|\
      'verify --max-body-mb'|\
      'verify --source-timezone'|\
      'verify --replica-lag'|\
      'verify --ignored-fields'|\
      'verify --log-level'|\
      'verify --log-format'|\
      'verify --sample'|\
      'verify --resource'|\
      'verify --wait'|\
      'report --database-url'|\
      'report --database-password'|\
      'report --read-url'|\
      'report --data-dir'|\
      'report --source-timezone'|\
      'report --stuck-after'|\
      'report --log-level'|\
      'report --log-format'|\
      'report --format'|\
      'report --project'|\
      'report --version'|\
      'report --type'|\
      'report --since'|\
      'report --until'|\
      'report --limit'|\
      'report --html'|\
      'sql --database-url'|\
      'sql --database-password'|\
      'sql --read-url'|\
      'sql --data-dir'|\
      'sql --source-timezone'|\
      'sql --stuck-after'|\
      'sql --log-level'|\
      'sql --log-format'|\
      'sql --format'|\
      'sql --role'|\
      'sql --timeout'|\
      'export --database-url'|\
      'export --database-password'|\
      'export --read-url'|\
      'export --data-dir'|\
      'export --source-timezone'|\
      'export --stuck-after'|\
      'export --log-level'|\
      'export --log-format'|\
      'export --out'|\
      'export --format'|\
      'export --since'|\
      'export --until'|\
      'backup --database-url'|\
      'backup --database-password'|\
      'backup --data-dir'|\
      'backup --log-level'|\
      'backup --log-format'|\
      'backup --keep'|\
      'restore --database-url'|\
      'restore --database-password'|\
      'restore --data-dir'|\
      'restore --source-timezone'|\
      'restore --stuck-after'|\
      'restore --log-level'|\
      'restore --log-format'|\
      'explain --database-url'|\
      'explain --database-password'|\
      'explain --data-dir'|\
      'explain --source-timezone'|\
      'explain --log-level'|\
      'explain --log-format'|\
      'get --database-url'|\
      'get --database-password'|\
      'get --data-dir'|\
      'get --base-url'|\
      'get --contact'|\
      'get --rate'|\
      'get --timeout-ms'|\
      'get --retries'|\
      'get --max-body-mb'|\
      'get --ignored-fields'|\
      'get --log-level'|\
      'get --log-format'|\
      'get --filter'|\
      'get --limit'|\
      'get --offset'|\
      'get --search'|\
      'get --project'|\
      'get --in-version'|\
      'get --page'|\
      'quarantine --database-url'|\
      'quarantine --database-password'|\
      'quarantine --data-dir'|\
      'quarantine --base-url'|\
      'quarantine --source-timezone'|\
      'quarantine --stuck-after'|\
      'quarantine --log-level'|\
      'quarantine --log-format'|\
      'quarantine --resource'|\
      'quarantine --limit'|\
      'notify --database-url'|\
      'notify --database-password'|\
      'notify --data-dir'|\
      'notify --stale-after'|\
      'notify --webhook-url'|\
      'notify --webhook-secret'|\
      'notify --webhook-format'|\
      'notify --notice-types'|\
      'notify --notice-projects'|\
      'notify --log-level'|\
      'notify --log-format'|\
      'notify --mute'|\
      'notify --for'|\
      'notify --unmute'|\
      'migrate --database-url'|\
      'migrate --database-password'|\
      'migrate --data-dir'|\
      'migrate --source-timezone'|\
      'migrate --stuck-after'|\
      'migrate --log-level'|\
      'migrate --log-format'|\
      'migrate --service'|\
      'migrate --worker'|\
      'grant-reader --database-url'|\
      'grant-reader --database-password'|\
      'grant-reader --data-dir'|\
      'grant-reader --log-level'|\
      'grant-reader --log-format'|\
      'reclassify --database-url'|\
      'reclassify --database-password'|\
      'reclassify --data-dir'|\
      'reclassify --source-timezone'|\
      'reclassify --stuck-after'|\
      'reclassify --log-level'|\
      'reclassify --log-format'|\
      'prune --database-url'|\
      'prune --database-password'|\
      'prune --data-dir'|\
      'prune --source-timezone'|\
      'prune --log-level'|\
      'prune --log-format'|\
      'prune --older-than'|\
      'prune --logs-older-than'|\
      'prune --logs-export'|\
      'forget --database-url'|\
      'forget --database-password'|\
      'forget --data-dir'|\
      'forget --source-timezone'|\
      'forget --stuck-after'|\
      'forget --log-level'|\
      'forget --log-format'|\
      'simulate --log-level'|\
      'simulate --log-format'|\
      'simulate --users'|\
      'simulate --projects'|\
      'simulate --versions'|\
      'simulate --files'|\
      'simulate --builds'|\
      'simulate --seed'|\
      'simulate --port'|\
      'simulate --start'|\
      'simulate --speed'|\
      'simulate --host'|\
      'simulate --time-zone'|\
      'simulate --latency-ms'|\
      'database --data-dir'|\
      'database --log-level'|\
      'database --log-format'|\
      'config --database-url'|\
      'config --database-password'|\
      'config --read-url'|\
      'config --data-dir'|\
      'config --database-limit'|\
      'config --base-url'|\
      'config --contact'|\
      'config --page-size'|\
      'config --rate'|\
      'config --concurrency'|\
      'config --timeout-ms'|\
      'config --retries'|\
      'config --max-body-mb'|\
      'config --sync-cron'|\
      'config --full-every-days'|\
      'config --watch-cron'|\
      'config --timezone'|\
      'config --source-timezone'|\
      'config --stuck-after'|\
      'config --final-states'|\
      'config --stale-after'|\
      'config --max-delete-ratio'|\
      'config --delete-held-after'|\
      'config --replica-lag'|\
      'config --ignored-fields'|\
      'config --leave-out'|\
      'config --verify-sample'|\
      'config --docs-url'|\
      'config --content-budget'|\
      'config --http-host'|\
      'config --http-port'|\
      'config --http-allowed-hosts'|\
      'config --http-rate'|\
      'config --http-cors'|\
      'config --backup-cron'|\
      'config --backup-dir'|\
      'config --backup-keep'|\
      'config --export-cron'|\
      'config --export-dir'|\
      'config --export-logs-dir'|\
      'config --prune-cron'|\
      'config --history-keep'|\
      'config --webhook-url'|\
      'config --webhook-secret'|\
      'config --webhook-format'|\
      'config --notice-types'|\
      'config --notice-projects'|\
      'config --log-level'|\
      'config --log-format'|\
      'completion --log-level'|\
      'completion --log-format')
        if ((i < at)); then [[ ${COMP_WORDS[i + 1]} == '=' ]] && i=$((i + 1)); i=$((i + 1)); fi ;;
      *' -'*|*' =') ;;
      *) if [[ -z $command ]]; then command=$word; else place=$((place + 1)); fi ;;
    esac
  done
  case $command in
    '') kind=words words='demo sync watch worker serve status doctor verify report sql export backup restore explain get quarantine notify migrate grant-reader reclassify prune forget simulate database config completion help' flags='--help --version --verbose --no-color' ;;
    help) kind=words words='demo sync watch worker serve status doctor verify report sql export backup restore explain get quarantine notify migrate grant-reader reclassify prune forget simulate database config completion' ;;
    demo) flags='--data-dir --source-timezone --http-host --http-port --http-allowed-hosts --log-level --log-format --verbose --no-color --keep --json --help' ;;
    sync) flags='--database-url --database-password --data-dir --base-url --contact --page-size --rate --concurrency --timeout-ms --retries --max-body-mb --full-every-days --source-timezone --stuck-after --final-states --stale-after --max-delete-ratio --delete-held-after --replica-lag --ignored-fields --leave-out --verify-sample --content --docs-url --content-budget --webhook-url --webhook-secret --webhook-format --notice-types --notice-projects --log-level --log-format --verbose --no-color --full --incremental --resource --allow-mass-delete --metrics-file --json --help' ;;
    watch) flags='--database-url --database-password --data-dir --base-url --contact --page-size --rate --concurrency --timeout-ms --retries --max-body-mb --watch-cron --timezone --source-timezone --stuck-after --final-states --stale-after --replica-lag --ignored-fields --webhook-url --webhook-secret --webhook-format --notice-types --notice-projects --log-level --log-format --verbose --no-color --once --metrics-file --json --help' ;;
    worker) flags='--database-url --database-password --data-dir --database-limit --base-url --contact --page-size --rate --concurrency --timeout-ms --retries --max-body-mb --sync-cron --full-every-days --watch-cron --timezone --source-timezone --stuck-after --final-states --stale-after --max-delete-ratio --delete-held-after --replica-lag --ignored-fields --leave-out --verify-sample --content --docs-url --content-budget --http-host --http-port --http-allowed-hosts --http-rate --http-cors --backup-cron --backup-dir --backup-keep --export-cron --export-dir --export-logs-dir --prune-cron --history-keep --webhook-url --webhook-secret --webhook-format --notice-types --notice-projects --log-level --log-format --verbose --no-color --help' ;;
    serve) flags='--database-url --database-password --read-url --data-dir --database-limit --sync-cron --watch-cron --timezone --source-timezone --stuck-after --stale-after --http-host --http-port --http-allowed-hosts --http-rate --http-cors --backup-cron --export-cron --prune-cron --log-level --log-format --verbose --no-color --json --help' ;;
    status) flags='--database-url --database-password --data-dir --database-limit --sync-cron --watch-cron --timezone --source-timezone --stuck-after --stale-after --backup-cron --export-cron --prune-cron --log-level --log-format --verbose --no-color --max-age --json --help' ;;
    doctor) flags='--database-url --database-password --data-dir --database-limit --base-url --contact --rate --timeout-ms --retries --max-body-mb --source-timezone --stale-after --ignored-fields --log-level --log-format --verbose --no-color --json --help' ;;
    verify) flags='--database-url --database-password --data-dir --base-url --contact --rate --timeout-ms --retries --max-body-mb --source-timezone --replica-lag --ignored-fields --log-level --log-format --verbose --no-color --sample --resource --wait --repair --json --help' ;;
    report) flags='--database-url --database-password --read-url --data-dir --source-timezone --stuck-after --log-level --log-format --verbose --no-color --format --json --bom --wide --project --version --type --since --until --limit --html --with-people --help' ;;
    sql) flags='--database-url --database-password --read-url --data-dir --source-timezone --stuck-after --log-level --log-format --verbose --no-color --format --json --bom --role --timeout --help' ;;
    export) flags='--database-url --database-password --read-url --data-dir --source-timezone --stuck-after --log-level --log-format --verbose --no-color --out --format --incremental --since --until --logs --json --help' ;;
    backup) flags='--database-url --database-password --data-dir --log-level --log-format --verbose --no-color --keep --json --help' ;;
    restore) flags='--database-url --database-password --data-dir --source-timezone --stuck-after --log-level --log-format --verbose --no-color --json --help' ;;
    explain) flags='--database-url --database-password --data-dir --source-timezone --log-level --log-format --verbose --no-color --json --help' ;;
    get) flags='--database-url --database-password --data-dir --base-url --contact --rate --timeout-ms --retries --max-body-mb --ignored-fields --log-level --log-format --verbose --no-color --filter --schema --limit --offset --search --anchors --project --in-version --page --local --json --help' ;;
    quarantine) flags='--database-url --database-password --data-dir --base-url --source-timezone --stuck-after --log-level --log-format --verbose --no-color --resource --all --limit --retry --json --help' ;;
    notify) flags='--database-url --database-password --data-dir --stale-after --webhook-url --webhook-secret --webhook-format --notice-types --notice-projects --log-level --log-format --verbose --no-color --test --retry --mute --for --unmute --json --help' ;;
    migrate) flags='--database-url --database-password --data-dir --source-timezone --stuck-after --log-level --log-format --verbose --no-color --status --dry-run --service --worker --json --help' ;;
    grant-reader) flags='--database-url --database-password --data-dir --log-level --log-format --verbose --no-color --with-people --interface --dry-run --json --help' ;;
    reclassify) flags='--database-url --database-password --data-dir --source-timezone --stuck-after --log-level --log-format --verbose --no-color --dry-run --json --help' ;;
    prune) flags='--database-url --database-password --data-dir --source-timezone --log-level --log-format --verbose --no-color --older-than --logs-older-than --logs-export --dry-run --json --help' ;;
    forget) flags='--database-url --database-password --data-dir --source-timezone --stuck-after --log-level --log-format --verbose --no-color --texts --force --dry-run --json --help' ;;
    simulate) flags='--log-level --log-format --verbose --no-color --users --projects --versions --files --builds --seed --port --start --speed --host --time-zone --latency-ms --json --help' ;;
    database) flags='--data-dir --log-level --log-format --verbose --no-color --with-password --json --help' ;;
    config) flags='--database-url --database-password --read-url --data-dir --database-limit --base-url --contact --page-size --rate --concurrency --timeout-ms --retries --max-body-mb --sync-cron --full-every-days --watch-cron --timezone --source-timezone --stuck-after --final-states --stale-after --max-delete-ratio --delete-held-after --replica-lag --ignored-fields --leave-out --verify-sample --content --docs-url --content-budget --http-host --http-port --http-allowed-hosts --http-rate --http-cors --backup-cron --backup-dir --backup-keep --export-cron --export-dir --export-logs-dir --prune-cron --history-keep --webhook-url --webhook-secret --webhook-format --notice-types --notice-projects --log-level --log-format --verbose --no-color --json --help' ;;
    completion) flags='--log-level --log-format --verbose --no-color --help' ;;
  esac
  case "$command $place" in
    'report 0') kind=words words='dim_projects dim_versions dim_dates success_rate_daily success_rate_daily_by_project success_rate_by_project success_rate_by_type regressions success_rate_without_platform fact_builds fact_months build_times_daily log_sizes open_builds backlog arrivals arrivals_hourly failing_now failing_projects project_states streaks recoveries time_to_recover instability broke_daily incident_hours error_classes error_fingerprints error_lines error_fingerprints_daily error_rules freshness runs walks quarantine broken_references schema_changes project_changes muted_projects data_dictionary' ;;
    'sql 0') kind=other ;;
    'backup 0') kind=files ;;
    'restore 0') kind=files ;;
    'explain 0') kind=words words='build' ;;
    'explain 1') kind=other ;;
    'get 0') kind=words words='user project version file build' ;;
    'get 1') kind=other ;;
    'grant-reader 0') kind=other ;;
    'forget 0') kind=words words='user' ;;
    'forget 1') kind=other ;;
    'completion 0') kind=words words='bash zsh fish' ;;
  esac
  case "$command ${COMP_WORDS[at]}" in
    'demo --data-dir') kind=folders flags= ;;
    'demo --source-timezone') kind=other flags= ;;
    'demo --http-host') kind=other flags= ;;
    'demo --http-port') kind=other flags= ;;
    'demo --http-allowed-hosts') kind=other flags= ;;
    'demo --log-level') kind=words words='fatal error warn info debug trace silent' flags= ;;
    'demo --log-format') kind=words words='auto pretty json' flags= ;;
    'sync --database-url') kind=other flags= ;;
    'sync --database-password') kind=other flags= ;;
    'sync --data-dir') kind=folders flags= ;;
    'sync --base-url') kind=other flags= ;;
    'sync --contact') kind=other flags= ;;
    'sync --page-size') kind=other flags= ;;
    'sync --rate') kind=other flags= ;;
    'sync --concurrency') kind=other flags= ;;
    'sync --timeout-ms') kind=other flags= ;;
    'sync --retries') kind=other flags= ;;
    'sync --max-body-mb') kind=other flags= ;;
    'sync --full-every-days') kind=other flags= ;;
    'sync --source-timezone') kind=other flags= ;;
    'sync --stuck-after') kind=other flags= ;;
    'sync --final-states') kind=other flags= ;;
    'sync --stale-after') kind=other flags= ;;
    'sync --max-delete-ratio') kind=other flags= ;;
    'sync --delete-held-after') kind=other flags= ;;
    'sync --replica-lag') kind=other flags= ;;
    'sync --ignored-fields') kind=other flags= ;;
    'sync --leave-out') kind=other flags= ;;
    'sync --verify-sample') kind=other flags= ;;
    'sync --content') kind=words words='on off' ;;
    'sync --docs-url') kind=other flags= ;;
    'sync --content-budget') kind=other flags= ;;
    'sync --webhook-url') kind=other flags= ;;
    'sync --webhook-secret') kind=other flags= ;;
    'sync --webhook-format') kind=words words='standard slack teams' flags= ;;
    'sync --notice-types') kind=other flags= ;;
    'sync --notice-projects') kind=other flags= ;;
    'sync --log-level') kind=words words='fatal error warn info debug trace silent' flags= ;;
    'sync --log-format') kind=words words='auto pretty json' flags= ;;
    'sync --resource') kind=list words='user project version file build' flags= ;;
    'sync --metrics-file') kind=files flags= ;;
    'watch --database-url') kind=other flags= ;;
    'watch --database-password') kind=other flags= ;;
    'watch --data-dir') kind=folders flags= ;;
    'watch --base-url') kind=other flags= ;;
    'watch --contact') kind=other flags= ;;
    'watch --page-size') kind=other flags= ;;
    'watch --rate') kind=other flags= ;;
    'watch --concurrency') kind=other flags= ;;
    'watch --timeout-ms') kind=other flags= ;;
    'watch --retries') kind=other flags= ;;
    'watch --max-body-mb') kind=other flags= ;;
    'watch --watch-cron') kind=other flags= ;;
    'watch --timezone') kind=other flags= ;;
    'watch --source-timezone') kind=other flags= ;;
    'watch --stuck-after') kind=other flags= ;;
    'watch --final-states') kind=other flags= ;;
    'watch --stale-after') kind=other flags= ;;
    'watch --replica-lag') kind=other flags= ;;
    'watch --ignored-fields') kind=other flags= ;;
    'watch --webhook-url') kind=other flags= ;;
    'watch --webhook-secret') kind=other flags= ;;
    'watch --webhook-format') kind=words words='standard slack teams' flags= ;;
    'watch --notice-types') kind=other flags= ;;
    'watch --notice-projects') kind=other flags= ;;
    'watch --log-level') kind=words words='fatal error warn info debug trace silent' flags= ;;
    'watch --log-format') kind=words words='auto pretty json' flags= ;;
    'watch --metrics-file') kind=files flags= ;;
    'worker --database-url') kind=other flags= ;;
    'worker --database-password') kind=other flags= ;;
    'worker --data-dir') kind=folders flags= ;;
    'worker --database-limit') kind=other flags= ;;
    'worker --base-url') kind=other flags= ;;
    'worker --contact') kind=other flags= ;;
    'worker --page-size') kind=other flags= ;;
    'worker --rate') kind=other flags= ;;
    'worker --concurrency') kind=other flags= ;;
    'worker --timeout-ms') kind=other flags= ;;
    'worker --retries') kind=other flags= ;;
    'worker --max-body-mb') kind=other flags= ;;
    'worker --sync-cron') kind=other flags= ;;
    'worker --full-every-days') kind=other flags= ;;
    'worker --watch-cron') kind=other flags= ;;
    'worker --timezone') kind=other flags= ;;
    'worker --source-timezone') kind=other flags= ;;
    'worker --stuck-after') kind=other flags= ;;
    'worker --final-states') kind=other flags= ;;
    'worker --stale-after') kind=other flags= ;;
    'worker --max-delete-ratio') kind=other flags= ;;
    'worker --delete-held-after') kind=other flags= ;;
    'worker --replica-lag') kind=other flags= ;;
    'worker --ignored-fields') kind=other flags= ;;
    'worker --leave-out') kind=other flags= ;;
    'worker --verify-sample') kind=other flags= ;;
    'worker --content') kind=words words='on off' ;;
    'worker --docs-url') kind=other flags= ;;
    'worker --content-budget') kind=other flags= ;;
    'worker --http-host') kind=other flags= ;;
    'worker --http-port') kind=other flags= ;;
    'worker --http-allowed-hosts') kind=other flags= ;;
    'worker --http-rate') kind=other flags= ;;
    'worker --http-cors') kind=other flags= ;;
    'worker --backup-cron') kind=other flags= ;;
    'worker --backup-dir') kind=folders flags= ;;
    'worker --backup-keep') kind=other flags= ;;
    'worker --export-cron') kind=other flags= ;;
    'worker --export-dir') kind=folders flags= ;;
    'worker --export-logs-dir') kind=folders flags= ;;
    'worker --prune-cron') kind=other flags= ;;
    'worker --history-keep') kind=other flags= ;;
    'worker --webhook-url') kind=other flags= ;;
    'worker --webhook-secret') kind=other flags= ;;
    'worker --webhook-format') kind=words words='standard slack teams' flags= ;;
    'worker --notice-types') kind=other flags= ;;
    'worker --notice-projects') kind=other flags= ;;
    'worker --log-level') kind=words words='fatal error warn info debug trace silent' flags= ;;
    'worker --log-format') kind=words words='auto pretty json' flags= ;;
    'serve --database-url') kind=other flags= ;;
    'serve --database-password') kind=other flags= ;;
    'serve --read-url') kind=other flags= ;;
    'serve --data-dir') kind=folders flags= ;;
    'serve --database-limit') kind=other flags= ;;
    'serve --sync-cron') kind=other flags= ;;
    'serve --watch-cron') kind=other flags= ;;
    'serve --timezone') kind=other flags= ;;
    'serve --source-timezone') kind=other flags= ;;
    'serve --stuck-after') kind=other flags= ;;
    'serve --stale-after') kind=other flags= ;;
    'serve --http-host') kind=other flags= ;;
    'serve --http-port') kind=other flags= ;;
    'serve --http-allowed-hosts') kind=other flags= ;;
    'serve --http-rate') kind=other flags= ;;
    'serve --http-cors') kind=other flags= ;;
    'serve --backup-cron') kind=other flags= ;;
    'serve --export-cron') kind=other flags= ;;
    'serve --prune-cron') kind=other flags= ;;
    'serve --log-level') kind=words words='fatal error warn info debug trace silent' flags= ;;
    'serve --log-format') kind=words words='auto pretty json' flags= ;;
    'status --database-url') kind=other flags= ;;
    'status --database-password') kind=other flags= ;;
    'status --data-dir') kind=folders flags= ;;
    'status --database-limit') kind=other flags= ;;
    'status --sync-cron') kind=other flags= ;;
    'status --watch-cron') kind=other flags= ;;
    'status --timezone') kind=other flags= ;;
    'status --source-timezone') kind=other flags= ;;
    'status --stuck-after') kind=other flags= ;;
    'status --stale-after') kind=other flags= ;;
    'status --backup-cron') kind=other flags= ;;
    'status --export-cron') kind=other flags= ;;
    'status --prune-cron') kind=other flags= ;;
    'status --log-level') kind=words words='fatal error warn info debug trace silent' flags= ;;
    'status --log-format') kind=words words='auto pretty json' flags= ;;
    'status --max-age') kind=other ;;
    'doctor --database-url') kind=other flags= ;;
    'doctor --database-password') kind=other flags= ;;
    'doctor --data-dir') kind=folders flags= ;;
    'doctor --database-limit') kind=other flags= ;;
    'doctor --base-url') kind=other flags= ;;
    'doctor --contact') kind=other flags= ;;
    'doctor --rate') kind=other flags= ;;
    'doctor --timeout-ms') kind=other flags= ;;
    'doctor --retries') kind=other flags= ;;
    'doctor --max-body-mb') kind=other flags= ;;
    'doctor --source-timezone') kind=other flags= ;;
    'doctor --stale-after') kind=other flags= ;;
    'doctor --ignored-fields') kind=other flags= ;;
    'doctor --log-level') kind=words words='fatal error warn info debug trace silent' flags= ;;
    'doctor --log-format') kind=words words='auto pretty json' flags= ;;
    'verify --database-url') kind=other flags= ;;
    'verify --database-password') kind=other flags= ;;
    'verify --data-dir') kind=folders flags= ;;
    'verify --base-url') kind=other flags= ;;
    'verify --contact') kind=other flags= ;;
    'verify --rate') kind=other flags= ;;
    'verify --timeout-ms') kind=other flags= ;;
    'verify --retries') kind=other flags= ;;
    'verify --max-body-mb') kind=other flags= ;;
    'verify --source-timezone') kind=other flags= ;;
    'verify --replica-lag') kind=other flags= ;;
    'verify --ignored-fields') kind=other flags= ;;
    'verify --log-level') kind=words words='fatal error warn info debug trace silent' flags= ;;
    'verify --log-format') kind=words words='auto pretty json' flags= ;;
    'verify --sample') kind=other flags= ;;
    'verify --resource') kind=list words='user project version file build' flags= ;;
    'verify --wait') kind=other flags= ;;
    'report --database-url') kind=other flags= ;;
    'report --database-password') kind=other flags= ;;
    'report --read-url') kind=other flags= ;;
    'report --data-dir') kind=folders flags= ;;
    'report --source-timezone') kind=other flags= ;;
    'report --stuck-after') kind=other flags= ;;
    'report --log-level') kind=words words='fatal error warn info debug trace silent' flags= ;;
    'report --log-format') kind=words words='auto pretty json' flags= ;;
    'report --format') kind=words words='table csv json md' flags= ;;
    'report --project') kind=other flags= ;;
    'report --version') kind=other flags= ;;
    'report --type') kind=other flags= ;;
    'report --since') kind=other flags= ;;
    'report --until') kind=other flags= ;;
    'report --limit') kind=other flags= ;;
    'report --html') kind=folders flags= ;;
    'sql --database-url') kind=other flags= ;;
    'sql --database-password') kind=other flags= ;;
    'sql --read-url') kind=other flags= ;;
    'sql --data-dir') kind=folders flags= ;;
    'sql --source-timezone') kind=other flags= ;;
    'sql --stuck-after') kind=other flags= ;;
    'sql --log-level') kind=words words='fatal error warn info debug trace silent' flags= ;;
    'sql --log-format') kind=words words='auto pretty json' flags= ;;
    'sql --format') kind=words words='table csv json md' flags= ;;
    'sql --role') kind=other flags= ;;
    'sql --timeout') kind=other flags= ;;
    'export --database-url') kind=other flags= ;;
    'export --database-password') kind=other flags= ;;
    'export --read-url') kind=other flags= ;;
    'export --data-dir') kind=folders flags= ;;
    'export --source-timezone') kind=other flags= ;;
    'export --stuck-after') kind=other flags= ;;
    'export --log-level') kind=words words='fatal error warn info debug trace silent' flags= ;;
    'export --log-format') kind=words words='auto pretty json' flags= ;;
    'export --out') kind=folders flags= ;;
    'export --format') kind=words words='parquet csv' flags= ;;
    'export --since') kind=other flags= ;;
    'export --until') kind=other flags= ;;
    'backup --database-url') kind=other flags= ;;
    'backup --database-password') kind=other flags= ;;
    'backup --data-dir') kind=folders flags= ;;
    'backup --log-level') kind=words words='fatal error warn info debug trace silent' flags= ;;
    'backup --log-format') kind=words words='auto pretty json' flags= ;;
    'backup --keep') kind=other flags= ;;
    'restore --database-url') kind=other flags= ;;
    'restore --database-password') kind=other flags= ;;
    'restore --data-dir') kind=folders flags= ;;
    'restore --source-timezone') kind=other flags= ;;
    'restore --stuck-after') kind=other flags= ;;
    'restore --log-level') kind=words words='fatal error warn info debug trace silent' flags= ;;
    'restore --log-format') kind=words words='auto pretty json' flags= ;;
    'explain --database-url') kind=other flags= ;;
    'explain --database-password') kind=other flags= ;;
    'explain --data-dir') kind=folders flags= ;;
    'explain --source-timezone') kind=other flags= ;;
    'explain --log-level') kind=words words='fatal error warn info debug trace silent' flags= ;;
    'explain --log-format') kind=words words='auto pretty json' flags= ;;
    'get --database-url') kind=other flags= ;;
    'get --database-password') kind=other flags= ;;
    'get --data-dir') kind=folders flags= ;;
    'get --base-url') kind=other flags= ;;
    'get --contact') kind=other flags= ;;
    'get --rate') kind=other flags= ;;
    'get --timeout-ms') kind=other flags= ;;
    'get --retries') kind=other flags= ;;
    'get --max-body-mb') kind=other flags= ;;
    'get --ignored-fields') kind=other flags= ;;
    'get --log-level') kind=words words='fatal error warn info debug trace silent' flags= ;;
    'get --log-format') kind=words words='auto pretty json' flags= ;;
    'get --filter') kind=other flags= ;;
    'get --limit') kind=other flags= ;;
    'get --offset') kind=other flags= ;;
    'get --search') kind=other flags= ;;
    'get --project') kind=other flags= ;;
    'get --in-version') kind=other flags= ;;
    'get --page') kind=other flags= ;;
    'quarantine --database-url') kind=other flags= ;;
    'quarantine --database-password') kind=other flags= ;;
    'quarantine --data-dir') kind=folders flags= ;;
    'quarantine --base-url') kind=other flags= ;;
    'quarantine --source-timezone') kind=other flags= ;;
    'quarantine --stuck-after') kind=other flags= ;;
    'quarantine --log-level') kind=words words='fatal error warn info debug trace silent' flags= ;;
    'quarantine --log-format') kind=words words='auto pretty json' flags= ;;
    'quarantine --resource') kind=words words='user project version file build' flags= ;;
    'quarantine --limit') kind=other flags= ;;
    'notify --database-url') kind=other flags= ;;
    'notify --database-password') kind=other flags= ;;
    'notify --data-dir') kind=folders flags= ;;
    'notify --stale-after') kind=other flags= ;;
    'notify --webhook-url') kind=other flags= ;;
    'notify --webhook-secret') kind=other flags= ;;
    'notify --webhook-format') kind=words words='standard slack teams' flags= ;;
    'notify --notice-types') kind=other flags= ;;
    'notify --notice-projects') kind=other flags= ;;
    'notify --log-level') kind=words words='fatal error warn info debug trace silent' flags= ;;
    'notify --log-format') kind=words words='auto pretty json' flags= ;;
    'notify --mute') kind=other flags= ;;
    'notify --for') kind=other flags= ;;
    'notify --unmute') kind=other flags= ;;
    'migrate --database-url') kind=other flags= ;;
    'migrate --database-password') kind=other flags= ;;
    'migrate --data-dir') kind=folders flags= ;;
    'migrate --source-timezone') kind=other flags= ;;
    'migrate --stuck-after') kind=other flags= ;;
    'migrate --log-level') kind=words words='fatal error warn info debug trace silent' flags= ;;
    'migrate --log-format') kind=words words='auto pretty json' flags= ;;
    'migrate --service') kind=other flags= ;;
    'migrate --worker') kind=other flags= ;;
    'grant-reader --database-url') kind=other flags= ;;
    'grant-reader --database-password') kind=other flags= ;;
    'grant-reader --data-dir') kind=folders flags= ;;
    'grant-reader --log-level') kind=words words='fatal error warn info debug trace silent' flags= ;;
    'grant-reader --log-format') kind=words words='auto pretty json' flags= ;;
    'reclassify --database-url') kind=other flags= ;;
    'reclassify --database-password') kind=other flags= ;;
    'reclassify --data-dir') kind=folders flags= ;;
    'reclassify --source-timezone') kind=other flags= ;;
    'reclassify --stuck-after') kind=other flags= ;;
    'reclassify --log-level') kind=words words='fatal error warn info debug trace silent' flags= ;;
    'reclassify --log-format') kind=words words='auto pretty json' flags= ;;
    'prune --database-url') kind=other flags= ;;
    'prune --database-password') kind=other flags= ;;
    'prune --data-dir') kind=folders flags= ;;
    'prune --source-timezone') kind=other flags= ;;
    'prune --log-level') kind=words words='fatal error warn info debug trace silent' flags= ;;
    'prune --log-format') kind=words words='auto pretty json' flags= ;;
    'prune --older-than') kind=other flags= ;;
    'prune --logs-older-than') kind=other flags= ;;
    'prune --logs-export') kind=folders flags= ;;
    'forget --database-url') kind=other flags= ;;
    'forget --database-password') kind=other flags= ;;
    'forget --data-dir') kind=folders flags= ;;
    'forget --source-timezone') kind=other flags= ;;
    'forget --stuck-after') kind=other flags= ;;
    'forget --log-level') kind=words words='fatal error warn info debug trace silent' flags= ;;
    'forget --log-format') kind=words words='auto pretty json' flags= ;;
    'simulate --log-level') kind=words words='fatal error warn info debug trace silent' flags= ;;
    'simulate --log-format') kind=words words='auto pretty json' flags= ;;
    'simulate --users') kind=other flags= ;;
    'simulate --projects') kind=other flags= ;;
    'simulate --versions') kind=other flags= ;;
    'simulate --files') kind=other flags= ;;
    'simulate --builds') kind=other flags= ;;
    'simulate --seed') kind=other flags= ;;
    'simulate --port') kind=other flags= ;;
    'simulate --start') kind=other flags= ;;
    'simulate --speed') kind=other flags= ;;
    'simulate --host') kind=other flags= ;;
    'simulate --time-zone') kind=other flags= ;;
    'simulate --latency-ms') kind=other flags= ;;
    'database --data-dir') kind=folders flags= ;;
    'database --log-level') kind=words words='fatal error warn info debug trace silent' flags= ;;
    'database --log-format') kind=words words='auto pretty json' flags= ;;
    'config --database-url') kind=other flags= ;;
    'config --database-password') kind=other flags= ;;
    'config --read-url') kind=other flags= ;;
    'config --data-dir') kind=folders flags= ;;
    'config --database-limit') kind=other flags= ;;
    'config --base-url') kind=other flags= ;;
    'config --contact') kind=other flags= ;;
    'config --page-size') kind=other flags= ;;
    'config --rate') kind=other flags= ;;
    'config --concurrency') kind=other flags= ;;
    'config --timeout-ms') kind=other flags= ;;
    'config --retries') kind=other flags= ;;
    'config --max-body-mb') kind=other flags= ;;
    'config --sync-cron') kind=other flags= ;;
    'config --full-every-days') kind=other flags= ;;
    'config --watch-cron') kind=other flags= ;;
    'config --timezone') kind=other flags= ;;
    'config --source-timezone') kind=other flags= ;;
    'config --stuck-after') kind=other flags= ;;
    'config --final-states') kind=other flags= ;;
    'config --stale-after') kind=other flags= ;;
    'config --max-delete-ratio') kind=other flags= ;;
    'config --delete-held-after') kind=other flags= ;;
    'config --replica-lag') kind=other flags= ;;
    'config --ignored-fields') kind=other flags= ;;
    'config --leave-out') kind=other flags= ;;
    'config --verify-sample') kind=other flags= ;;
    'config --content') kind=words words='on off' ;;
    'config --docs-url') kind=other flags= ;;
    'config --content-budget') kind=other flags= ;;
    'config --http-host') kind=other flags= ;;
    'config --http-port') kind=other flags= ;;
    'config --http-allowed-hosts') kind=other flags= ;;
    'config --http-rate') kind=other flags= ;;
    'config --http-cors') kind=other flags= ;;
    'config --backup-cron') kind=other flags= ;;
    'config --backup-dir') kind=folders flags= ;;
    'config --backup-keep') kind=other flags= ;;
    'config --export-cron') kind=other flags= ;;
    'config --export-dir') kind=folders flags= ;;
    'config --export-logs-dir') kind=folders flags= ;;
    'config --prune-cron') kind=other flags= ;;
    'config --history-keep') kind=other flags= ;;
    'config --webhook-url') kind=other flags= ;;
    'config --webhook-secret') kind=other flags= ;;
    'config --webhook-format') kind=words words='standard slack teams' flags= ;;
    'config --notice-types') kind=other flags= ;;
    'config --notice-projects') kind=other flags= ;;
    'config --log-level') kind=words words='fatal error warn info debug trace silent' flags= ;;
    'config --log-format') kind=words words='auto pretty json' flags= ;;
    'completion --log-level') kind=words words='fatal error warn info debug trace silent' flags= ;;
    'completion --log-format') kind=words words='auto pretty json' flags= ;;
  esac
  COMPREPLY=()
  if [[ $cur == -* || -z $kind ]]; then kind=words words=$flags; fi
  case $kind in
    words) COMPREPLY=($(compgen -W "$words" -- "$cur")) ;;
    list)
      local before=
      [[ $cur == *,* ]] && before=${cur%,*},
      COMPREPLY=($(compgen -P "$before" -W "$words" -- "${cur##*,}")) ;;
    files|folders)
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(
        if [[ $kind == files ]]; then compgen -f -- "$cur"; else compgen -d -- "$cur"; fi
      ) ;;
  esac
}
complete -F _docmirror docmirror
