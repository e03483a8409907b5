#compdef docmirror
# Completion of docmirror for zsh, made by `docmirror completion zsh`.
_docmirror() {
  local curcontext=$curcontext state line
  typeset -A opt_args
  local -a commands
  commands=(
      'demo:shows the whole product offline, with a simulated service'
      'sync:mirrors the service in one run, then exits'
      'watch:follows builds that have not finished, and finds new ones'
      'worker:runs until it is stopped: nightly sync, watch, report page and API; a second one stands by'
      'serve:serves the report page and the service'\''s API from the mirror; never asks upstream'
      'status:shows freshness, who leads, last and next runs, open builds'
      'doctor:checks settings, database, service and time zone, and says how to repair each fault'
      'verify:compares random records with the service, and says how right the mirror is'
      'report:prints a view of the schema report: how often builds succeed, what fails, how long builds take'
      'sql:runs one query of the schema report with the rights of a reader'
      'export:writes builds, projects, versions and the calendar as Parquet or CSV files'
      'backup:writes the whole mirror into one file, while runs go on'
      'restore:restores a backup into a place without a mirror'
      'explain:shows every sighting of a build, and the reason for each bound of its times'
      'get:asks upstream for a list, a record or a schema, or searches its files'
      'quarantine:lists records that could not be stored, and tries them again'
      'notify:lists the notices to the webhook, tests it, sends again what was given up'
      'migrate:brings the schema up to date'
      'grant-reader:gives a role the right to read the schema report, or all that serve reads'
      'reclassify:applies changed error rules to stored failures'
      'prune:removes old changes and runs, never transitions'
      'forget:removes the names of a person from records, history, notices and logs'
      'simulate:runs the simulated service alone'
      'database:runs the embedded Postgres in the foreground and prints its URL'
      'config:prints the settings in force and where each came from, secrets masked'
      'completion:prints a script that completes commands and flags in bash, zsh or fish'
      'help:shows the help of a command'
  )
  _arguments -C "(- *)--help[shows the help]" "(- *)--version[prints the version]" "1: :->command" "*:: :->rest"
  case $state in
    command) _describe -t commands command commands ;;
    rest)
      case $words[1] in
        demo)
          _arguments '--data-dir=[the embedded Postgres'\'' data, relative to the working directory]: :_directories' \
            '--source-timezone=[the time zone of upstream'\''s timestamps, which do not name it; an IANA name (America/Chicago for old hosted data)]: : ' \
            '--http-host=[the address that worker and serve listen on]: : ' \
            '--http-port=[the port of worker and serve; 0 takes a free one]: : ' \
            '--http-allowed-hosts=[further host names under which worker and serve answer, separated by commas, such as mirror.example.org; requests for another name get 421]: : ' \
            '--log-level=[fatal, error, warn, info, debug, trace or silent]: :(fatal error warn info debug trace silent)' \
            '--log-format=[pretty, json, or auto\: pretty on a terminal, else JSON]: :(auto pretty json)' \
            '--verbose[stack traces, and a debug log unless --log-level says otherwise]' \
            '--no-color[no colours (setting\: NO_COLOR; FORCE_COLOR asks for them)]' \
            '--keep[stay up after the report and serve the page\: a round of the watch each minute, a sync each hour]' \
            '--json[print one JSON document]' \
            '--help[shows the help]' ;;
        sync)
          _arguments '--database-url=[where the mirror is\: postgres\://user\:password@host\:port/database]: : ' \
            '--database-password=[the password for DATABASE_URL and DOCMIRROR_READ_URL where they name none, as it is, in any characters; newlines at its end are cut]: : ' \
            '--data-dir=[the embedded Postgres'\'' data, relative to the working directory]: :_directories' \
            '--base-url=[the service to mirror\: the URL before /api/v1/, with its path prefix if it has one]: : ' \
            '--contact=[where the service'\''s owner can reach you, an e-mail address or a URL; sent in the User-Agent of each request]: : ' \
            '--page-size=[records per page, 1 to 1000; auto begins at 100 and takes more while replies stay under five seconds and six megabytes; the server may send fewer]: : ' \
            '--rate=[requests a second, all resources together, evenly spaced; 0.5 is one every 2 s, 0 is no limit]: : ' \
            '--concurrency=[requests in flight at once, 1 to 64]: : ' \
            '--timeout-ms=[time for one request, headers and body, in milliseconds]: : ' \
            '--retries=[tries after the first, 0 to 100; Retry-After is obeyed]: : ' \
            '--max-body-mb=[the longest reply that is accepted, 1 to 511 megabytes]: : ' \
            '--full-every-days=[the nights in which all builds are read again, an even share in each; auto is 1 where a full walk of all lists takes at most 30 minutes at this rate, else 7]: : ' \
            '--source-timezone=[the time zone of upstream'\''s timestamps, which do not name it; an IANA name (America/Chicago for old hosted data)]: : ' \
            '--stuck-after=[a build that was open for longer than this when it was last seen is stuck; units ms s m h d w, as in 1h30m]: : ' \
            '--final-states=[more states in which builds end, neither as a success nor as a failure, such as expired,superseded; known are finished, cancelled, canceled, aborted, error, skipped (docs/builds.md)]: : ' \
            '--stale-after=[a list that was not read well for this long is stale; units ms s m h d w, as in 1d6h]: : ' \
            '--max-delete-ratio=[the share of the known records, 0 to 1, that a walk may miss; when it misses more, nothing is marked deleted]: : ' \
            '--delete-held-after=[how long whole walks must miss what that ratio holds back before it is deleted, where each detail answers 404; more than half of a list always waits for a person; units ms s m h d w, or never]: : ' \
            '--replica-lag=[how far a replica of the service may be behind; nothing is marked deleted within this time of its last sighting; units ms s m h d w, at most 1w, 0s is none]: : ' \
            '--ignored-fields=[fields that make no record another one, such as build.output_url,user.token, because they differ in each reply; their values are kept as they came with a change of another field, and are in no history]: : ' \
            '--leave-out=[resources that a sync leaves out, such as build,file; their rows are kept. One that the root listing lacked for a week is left out by itself]: : ' \
            '--verify-sample=[random records that a sync compares with the service after a good end, one request each, as `docmirror verify` does; 0 is none]: : ' \
            '--content=[on\: a sync also fetches the pages of the files, for the searches (docs/content.md)]:: :(on off)' \
            '--docs-url=[where the pages of the files are, when they are on another host than the API]: : ' \
            '--content-budget=[how long one sync may fetch pages, after its lists, in minutes; the next one continues]: : ' \
            '--webhook-url=[gets a POST when something needs attention (docs/notices.md)]: : ' \
            '--webhook-secret=[signs what DOCMIRROR_WEBHOOK_URL gets\: whsec_ and 24 to 64 bytes in base64]: : ' \
            '--webhook-format=[how notices are written\: standard (signed), or as an incoming webhook of slack or a workflow of teams takes them]: :(standard slack teams)' \
            '--notice-types=[the types of notices that are sent, separated by commas, such as run.ended,builds.quiet]: : ' \
            '--notice-projects=[the projects of which breaks and fixes are sent\: slugs separated by commas, * for any letters, such as docs-*,pip]: : ' \
            '--log-level=[fatal, error, warn, info, debug, trace or silent]: :(fatal error warn info debug trace silent)' \
            '--log-format=[pretty, json, or auto\: pretty on a terminal, else JSON]: :(auto pretty json)' \
            '--verbose[stack traces, and a debug log unless --log-level says otherwise]' \
            '--no-color[no colours (setting\: NO_COLOR; FORCE_COLOR asks for them)]' \
            '--full[read every list to its end]' \
            '--incremental[read only the head of the builds, down to what is known]' \
            '--resource=[only these, separated by commas\: user, project, version, file, build]: :_values -s , word user project version file build' \
            '--allow-mass-delete[in this run mark what is gone as deleted, even more than --max-delete-ratio allows]' \
            '--metrics-file=[write the metrics of the mirror to this file at the end, for node_exporter'\''s textfile collector]: :_files' \
            '--json[print the run summary as one JSON document]' \
            '--help[shows the help]' ;;
        watch)
          _arguments '--database-url=[where the mirror is\: postgres\://user\:password@host\:port/database]: : ' \
            '--database-password=[the password for DATABASE_URL and DOCMIRROR_READ_URL where they name none, as it is, in any characters; newlines at its end are cut]: : ' \
            '--data-dir=[the embedded Postgres'\'' data, relative to the working directory]: :_directories' \
            '--base-url=[the service to mirror\: the URL before /api/v1/, with its path prefix if it has one]: : ' \
            '--contact=[where the service'\''s owner can reach you, an e-mail address or a URL; sent in the User-Agent of each request]: : ' \
            '--page-size=[records per page, 1 to 1000; auto begins at 100 and takes more while replies stay under five seconds and six megabytes; the server may send fewer]: : ' \
            '--rate=[requests a second, all resources together, evenly spaced; 0.5 is one every 2 s, 0 is no limit]: : ' \
            '--concurrency=[requests in flight at once, 1 to 64]: : ' \
            '--timeout-ms=[time for one request, headers and body, in milliseconds]: : ' \
            '--retries=[tries after the first, 0 to 100; Retry-After is obeyed]: : ' \
            '--max-body-mb=[the longest reply that is accepted, 1 to 511 megabytes]: : ' \
            '--watch-cron=[when watch and worker poll open builds and read new ones]: : ' \
            '--timezone=[the schedule'\''s time zone, an IANA name]: : ' \
            '--source-timezone=[the time zone of upstream'\''s timestamps, which do not name it; an IANA name (America/Chicago for old hosted data)]: : ' \
            '--stuck-after=[a build that was open for longer than this when it was last seen is stuck; units ms s m h d w, as in 1h30m]: : ' \
            '--final-states=[more states in which builds end, neither as a success nor as a failure, such as expired,superseded; known are finished, cancelled, canceled, aborted, error, skipped (docs/builds.md)]: : ' \
            '--stale-after=[a list that was not read well for this long is stale; units ms s m h d w, as in 1d6h]: : ' \
            '--replica-lag=[how far a replica of the service may be behind; nothing is marked deleted within this time of its last sighting; units ms s m h d w, at most 1w, 0s is none]: : ' \
            '--ignored-fields=[fields that make no record another one, such as build.output_url,user.token, because they differ in each reply; their values are kept as they came with a change of another field, and are in no history]: : ' \
            '--webhook-url=[gets a POST when something needs attention (docs/notices.md)]: : ' \
            '--webhook-secret=[signs what DOCMIRROR_WEBHOOK_URL gets\: whsec_ and 24 to 64 bytes in base64]: : ' \
            '--webhook-format=[how notices are written\: standard (signed), or as an incoming webhook of slack or a workflow of teams takes them]: :(standard slack teams)' \
            '--notice-types=[the types of notices that are sent, separated by commas, such as run.ended,builds.quiet]: : ' \
            '--notice-projects=[the projects of which breaks and fixes are sent\: slugs separated by commas, * for any letters, such as docs-*,pip]: : ' \
            '--log-level=[fatal, error, warn, info, debug, trace or silent]: :(fatal error warn info debug trace silent)' \
            '--log-format=[pretty, json, or auto\: pretty on a terminal, else JSON]: :(auto pretty json)' \
            '--verbose[stack traces, and a debug log unless --log-level says otherwise]' \
            '--no-color[no colours (setting\: NO_COLOR; FORCE_COLOR asks for them)]' \
            '--once[one round, then exit]' \
            '--metrics-file=[write the metrics of the mirror to this file at the end, for node_exporter'\''s textfile collector]: :_files' \
            '--json[print the summary of the round as one JSON document]' \
            '--help[shows the help]' ;;
        worker)
          _arguments '--database-url=[where the mirror is\: postgres\://user\:password@host\:port/database]: : ' \
            '--database-password=[the password for DATABASE_URL and DOCMIRROR_READ_URL where they name none, as it is, in any characters; newlines at its end are cut]: : ' \
            '--data-dir=[the embedded Postgres'\'' data, relative to the working directory]: :_directories' \
            '--database-limit=[how large the database may become, in gigabytes of 10^9 bytes, such as what its host sells; status, doctor and an alert say when it is full]: : ' \
            '--base-url=[the service to mirror\: the URL before /api/v1/, with its path prefix if it has one]: : ' \
            '--contact=[where the service'\''s owner can reach you, an e-mail address or a URL; sent in the User-Agent of each request]: : ' \
            '--page-size=[records per page, 1 to 1000; auto begins at 100 and takes more while replies stay under five seconds and six megabytes; the server may send fewer]: : ' \
            '--rate=[requests a second, all resources together, evenly spaced; 0.5 is one every 2 s, 0 is no limit]: : ' \
            '--concurrency=[requests in flight at once, 1 to 64]: : ' \
            '--timeout-ms=[time for one request, headers and body, in milliseconds]: : ' \
            '--retries=[tries after the first, 0 to 100; Retry-After is obeyed]: : ' \
            '--max-body-mb=[the longest reply that is accepted, 1 to 511 megabytes]: : ' \
            '--sync-cron=[when the worker syncs]: : ' \
            '--full-every-days=[the nights in which all builds are read again, an even share in each; auto is 1 where a full walk of all lists takes at most 30 minutes at this rate, else 7]: : ' \
            '--watch-cron=[when watch and worker poll open builds and read new ones]: : ' \
            '--timezone=[the schedule'\''s time zone, an IANA name]: : ' \
            '--source-timezone=[the time zone of upstream'\''s timestamps, which do not name it; an IANA name (America/Chicago for old hosted data)]: : ' \
            '--stuck-after=[a build that was open for longer than this when it was last seen is stuck; units ms s m h d w, as in 1h30m]: : ' \
            '--final-states=[more states in which builds end, neither as a success nor as a failure, such as expired,superseded; known are finished, cancelled, canceled, aborted, error, skipped (docs/builds.md)]: : ' \
            '--stale-after=[a list that was not read well for this long is stale; units ms s m h d w, as in 1d6h]: : ' \
            '--max-delete-ratio=[the share of the known records, 0 to 1, that a walk may miss; when it misses more, nothing is marked deleted]: : ' \
            '--delete-held-after=[how long whole walks must miss what that ratio holds back before it is deleted, where each detail answers 404; more than half of a list always waits for a person; units ms s m h d w, or never]: : ' \
            '--replica-lag=[how far a replica of the service may be behind; nothing is marked deleted within this time of its last sighting; units ms s m h d w, at most 1w, 0s is none]: : ' \
            '--ignored-fields=[fields that make no record another one, such as build.output_url,user.token, because they differ in each reply; their values are kept as they came with a change of another field, and are in no history]: : ' \
            '--leave-out=[resources that a sync leaves out, such as build,file; their rows are kept. One that the root listing lacked for a week is left out by itself]: : ' \
            '--verify-sample=[random records that a sync compares with the service after a good end, one request each, as `docmirror verify` does; 0 is none]: : ' \
            '--content=[on\: a sync also fetches the pages of the files, for the searches (docs/content.md)]:: :(on off)' \
            '--docs-url=[where the pages of the files are, when they are on another host than the API]: : ' \
            '--content-budget=[how long one sync may fetch pages, after its lists, in minutes; the next one continues]: : ' \
            '--http-host=[the address that worker and serve listen on]: : ' \
            '--http-port=[the port of worker and serve; 0 takes a free one]: : ' \
            '--http-allowed-hosts=[further host names under which worker and serve answer, separated by commas, such as mirror.example.org; requests for another name get 421]: : ' \
            '--http-rate=[requests a second that worker and serve answer to each client; 0 is no limit, auto is 0 on a loopback address and 100 on any other]: : ' \
            '--http-cors=[the origins whose web pages may read the interface in a browser, separated by commas, such as https\://docs.example.org; * is any]: : ' \
            '--backup-cron=[when the worker writes a backup into DOCMIRROR_BACKUP_DIR; a failed one is tried again after 15 and 60 minutes]: : ' \
            '--backup-dir=[the folder of the backups, which must be there\: name one in the mount, so that a lost mount fills no other disk]: :_directories' \
            '--backup-keep=[how many of the newest backups stay, beside the first one of each of the last twelve months]: : ' \
            '--export-cron=[when the worker exports into DOCMIRROR_EXPORT_DIR and DOCMIRROR_EXPORT_LOGS_DIR]: : ' \
            '--export-dir=[the folder of builds and dimensions as Parquet, as `docmirror export --incremental` writes it]: :_directories' \
            '--export-logs-dir=[the folder of the logs of builds, as `docmirror export --logs` writes it]: :_directories' \
            '--prune-cron=[when the worker removes rounds of the watch from over 400 days ago, and what DOCMIRROR_HISTORY_KEEP leaves; or never]: : ' \
            '--history-keep=[the worker removes older changes and runs too, as `docmirror prune --older-than` does; units ms s m h d w, as in 400d]: : ' \
            '--webhook-url=[gets a POST when something needs attention (docs/notices.md)]: : ' \
            '--webhook-secret=[signs what DOCMIRROR_WEBHOOK_URL gets\: whsec_ and 24 to 64 bytes in base64]: : ' \
            '--webhook-format=[how notices are written\: standard (signed), or as an incoming webhook of slack or a workflow of teams takes them]: :(standard slack teams)' \
            '--notice-types=[the types of notices that are sent, separated by commas, such as run.ended,builds.quiet]: : ' \
            '--notice-projects=[the projects of which breaks and fixes are sent\: slugs separated by commas, * for any letters, such as docs-*,pip]: : ' \
            '--log-level=[fatal, error, warn, info, debug, trace or silent]: :(fatal error warn info debug trace silent)' \
            '--log-format=[pretty, json, or auto\: pretty on a terminal, else JSON]: :(auto pretty json)' \
            '--verbose[stack traces, and a debug log unless --log-level says otherwise]' \
            '--no-color[no colours (setting\: NO_COLOR; FORCE_COLOR asks for them)]' \
            '--help[shows the help]' ;;
        serve)
          _arguments '--database-url=[where the mirror is\: postgres\://user\:password@host\:port/database]: : ' \
            '--database-password=[the password for DATABASE_URL and DOCMIRROR_READ_URL where they name none, as it is, in any characters; newlines at its end are cut]: : ' \
            '--read-url=[where report, export and serve read, such as a streaming replica\: postgres\://user\:password@host\:port/database]: : ' \
            '--data-dir=[the embedded Postgres'\'' data, relative to the working directory]: :_directories' \
            '--database-limit=[how large the database may become, in gigabytes of 10^9 bytes, such as what its host sells; status, doctor and an alert say when it is full]: : ' \
            '--sync-cron=[when the worker syncs]: : ' \
            '--watch-cron=[when watch and worker poll open builds and read new ones]: : ' \
            '--timezone=[the schedule'\''s time zone, an IANA name]: : ' \
            '--source-timezone=[the time zone of upstream'\''s timestamps, which do not name it; an IANA name (America/Chicago for old hosted data)]: : ' \
            '--stuck-after=[a build that was open for longer than this when it was last seen is stuck; units ms s m h d w, as in 1h30m]: : ' \
            '--stale-after=[a list that was not read well for this long is stale; units ms s m h d w, as in 1d6h]: : ' \
            '--http-host=[the address that worker and serve listen on]: : ' \
            '--http-port=[the port of worker and serve; 0 takes a free one]: : ' \
            '--http-allowed-hosts=[further host names under which worker and serve answer, separated by commas, such as mirror.example.org; requests for another name get 421]: : ' \
            '--http-rate=[requests a second that worker and serve answer to each client; 0 is no limit, auto is 0 on a loopback address and 100 on any other]: : ' \
            '--http-cors=[the origins whose web pages may read the interface in a browser, separated by commas, such as https\://docs.example.org; * is any]: : ' \
            '--backup-cron=[when the worker writes a backup into DOCMIRROR_BACKUP_DIR; a failed one is tried again after 15 and 60 minutes]: : ' \
            '--export-cron=[when the worker exports into DOCMIRROR_EXPORT_DIR and DOCMIRROR_EXPORT_LOGS_DIR]: : ' \
            '--prune-cron=[when the worker removes rounds of the watch from over 400 days ago, and what DOCMIRROR_HISTORY_KEEP leaves; or never]: : ' \
            '--log-level=[fatal, error, warn, info, debug, trace or silent]: :(fatal error warn info debug trace silent)' \
            '--log-format=[pretty, json, or auto\: pretty on a terminal, else JSON]: :(auto pretty json)' \
            '--verbose[stack traces, and a debug log unless --log-level says otherwise]' \
            '--no-color[no colours (setting\: NO_COLOR; FORCE_COLOR asks for them)]' \
            '--json[print the address as one JSON document]' \
            '--help[shows the help]' ;;
        status)
          _arguments '--database-url=[where the mirror is\: postgres\://user\:password@host\:port/database]: : ' \
            '--database-password=[the password for DATABASE_URL and DOCMIRROR_READ_URL where they name none, as it is, in any characters; newlines at its end are cut]: : ' \
            '--data-dir=[the embedded Postgres'\'' data, relative to the working directory]: :_directories' \
            '--database-limit=[how large the database may become, in gigabytes of 10^9 bytes, such as what its host sells; status, doctor and an alert say when it is full]: : ' \
            '--sync-cron=[when the worker syncs]: : ' \
            '--watch-cron=[when watch and worker poll open builds and read new ones]: : ' \
            '--timezone=[the schedule'\''s time zone, an IANA name]: : ' \
            '--source-timezone=[the time zone of upstream'\''s timestamps, which do not name it; an IANA name (America/Chicago for old hosted data)]: : ' \
            '--stuck-after=[a build that was open for longer than this when it was last seen is stuck; units ms s m h d w, as in 1h30m]: : ' \
            '--stale-after=[a list that was not read well for this long is stale; units ms s m h d w, as in 1d6h]: : ' \
            '--backup-cron=[when the worker writes a backup into DOCMIRROR_BACKUP_DIR; a failed one is tried again after 15 and 60 minutes]: : ' \
            '--export-cron=[when the worker exports into DOCMIRROR_EXPORT_DIR and DOCMIRROR_EXPORT_LOGS_DIR]: : ' \
            '--prune-cron=[when the worker removes rounds of the watch from over 400 days ago, and what DOCMIRROR_HISTORY_KEEP leaves; or never]: : ' \
            '--log-level=[fatal, error, warn, info, debug, trace or silent]: :(fatal error warn info debug trace silent)' \
            '--log-format=[pretty, json, or auto\: pretty on a terminal, else JSON]: :(auto pretty json)' \
            '--verbose[stack traces, and a debug log unless --log-level says otherwise]' \
            '--no-color[no colours (setting\: NO_COLOR; FORCE_COLOR asks for them)]' \
            '--max-age=[exit 11 when the oldest list is older than this, such as 30h; without a value, than DOCMIRROR_STALE_AFTER]:: : ' \
            '--json[print one JSON document]' \
            '--help[shows the help]' ;;
        doctor)
          _arguments '--database-url=[where the mirror is\: postgres\://user\:password@host\:port/database]: : ' \
            '--database-password=[the password for DATABASE_URL and DOCMIRROR_READ_URL where they name none, as it is, in any characters; newlines at its end are cut]: : ' \
            '--data-dir=[the embedded Postgres'\'' data, relative to the working directory]: :_directories' \
            '--database-limit=[how large the database may become, in gigabytes of 10^9 bytes, such as what its host sells; status, doctor and an alert say when it is full]: : ' \
            '--base-url=[the service to mirror\: the URL before /api/v1/, with its path prefix if it has one]: : ' \
            '--contact=[where the service'\''s owner can reach you, an e-mail address or a URL; sent in the User-Agent of each request]: : ' \
            '--rate=[requests a second, all resources together, evenly spaced; 0.5 is one every 2 s, 0 is no limit]: : ' \
            '--timeout-ms=[time for one request, headers and body, in milliseconds]: : ' \
            '--retries=[tries after the first, 0 to 100; Retry-After is obeyed]: : ' \
            '--max-body-mb=[the longest reply that is accepted, 1 to 511 megabytes]: : ' \
            '--source-timezone=[the time zone of upstream'\''s timestamps, which do not name it; an IANA name (America/Chicago for old hosted data)]: : ' \
            '--stale-after=[a list that was not read well for this long is stale; units ms s m h d w, as in 1d6h]: : ' \
            '--ignored-fields=[fields that make no record another one, such as build.output_url,user.token, because they differ in each reply; their values are kept as they came with a change of another field, and are in no history]: : ' \
            '--log-level=[fatal, error, warn, info, debug, trace or silent]: :(fatal error warn info debug trace silent)' \
            '--log-format=[pretty, json, or auto\: pretty on a terminal, else JSON]: :(auto pretty json)' \
            '--verbose[stack traces, and a debug log unless --log-level says otherwise]' \
            '--no-color[no colours (setting\: NO_COLOR; FORCE_COLOR asks for them)]' \
            '--json[print one JSON document]' \
            '--help[shows the help]' ;;
        verify)
          _arguments '--database-url=[where the mirror is\: postgres\://user\:password@host\:port/database]: : ' \
            '--database-password=[the password for DATABASE_URL and DOCMIRROR_READ_URL where they name none, as it is, in any characters; newlines at its end are cut]: : ' \
            '--data-dir=[the embedded Postgres'\'' data, relative to the working directory]: :_directories' \
            '--base-url=[the service to mirror\: the URL before /api/v1/, with its path prefix if it has one]: : ' \
            '--contact=[where the service'\''s owner can reach you, an e-mail address or a URL; sent in the User-Agent of each request]: : ' \
            '--rate=[requests a second, all resources together, evenly spaced; 0.5 is one every 2 s, 0 is no limit]: : ' \
            '--timeout-ms=[time for one request, headers and body, in milliseconds]: : ' \
            '--retries=[tries after the first, 0 to 100; Retry-After is obeyed]: : ' \
            '--max-body-mb=[the longest reply that is accepted, 1 to 511 megabytes]: : ' \
            '--source-timezone=[the time zone of upstream'\''s timestamps, which do not name it; an IANA name (America/Chicago for old hosted data)]: : ' \
            '--replica-lag=[how far a replica of the service may be behind; nothing is marked deleted within this time of its last sighting; units ms s m h d w, at most 1w, 0s is none]: : ' \
            '--ignored-fields=[fields that make no record another one, such as build.output_url,user.token, because they differ in each reply; their values are kept as they came with a change of another field, and are in no history]: : ' \
            '--log-level=[fatal, error, warn, info, debug, trace or silent]: :(fatal error warn info debug trace silent)' \
            '--log-format=[pretty, json, or auto\: pretty on a terminal, else JSON]: :(auto pretty json)' \
            '--verbose[stack traces, and a debug log unless --log-level says otherwise]' \
            '--no-color[no colours (setting\: NO_COLOR; FORCE_COLOR asks for them)]' \
            '--sample=[how many, one request each]: : ' \
            '--resource=[only these, separated by commas\: user, project, version, file, build]: :_values -s , word user project version file build' \
            '--wait=[look again after this time at what may have changed; 0s leaves that to the next check]: : ' \
            '--repair[store again what is wrong here, in a run of its own, and say what was done]' \
            '--json[print one JSON document]' \
            '--help[shows the help]' ;;
        report)
          _arguments '--database-url=[where the mirror is\: postgres\://user\:password@host\:port/database]: : ' \
            '--database-password=[the password for DATABASE_URL and DOCMIRROR_READ_URL where they name none, as it is, in any characters; newlines at its end are cut]: : ' \
            '--read-url=[where report, export and serve read, such as a streaming replica\: postgres\://user\:password@host\:port/database]: : ' \
            '--data-dir=[the embedded Postgres'\'' data, relative to the working directory]: :_directories' \
            '--source-timezone=[the time zone of upstream'\''s timestamps, which do not name it; an IANA name (America/Chicago for old hosted data)]: : ' \
            '--stuck-after=[a build that was open for longer than this when it was last seen is stuck; units ms s m h d w, as in 1h30m]: : ' \
            '--log-level=[fatal, error, warn, info, debug, trace or silent]: :(fatal error warn info debug trace silent)' \
            '--log-format=[pretty, json, or auto\: pretty on a terminal, else JSON]: :(auto pretty json)' \
            '--verbose[stack traces, and a debug log unless --log-level says otherwise]' \
            '--no-color[no colours (setting\: NO_COLOR; FORCE_COLOR asks for them)]' \
            '--format=[the output format]: :(table csv json md)' \
            '--json[short for --format json]' \
            '--bom[with --format csv\: a byte order mark in front, by which Excel reads UTF-8]' \
            '--wide[all columns in a table on a terminal]' \
            '--project=[only this project]: : ' \
            '--version=[only versions of this slug]: : ' \
            '--type=[only builds of this type, such as html]: : ' \
            '--since=[from this day (2026-11-03) or time (2026-11-03T12\:00Z) on, in UTC, or from a span ago (7d)]: : ' \
            '--until=[up to the end of this day, up to this time, or up to a span ago]: : ' \
            '--limit=[rows at most]: : ' \
            '--html=[write the report page as files instead; an older one in the folder is replaced]: :_directories' \
            '--with-people[with --html\: with the names of maintainers]' \
            '--help[shows the help]' \
            '1: :(dim_projects dim_versions dim_dates success_rate_daily success_rate_daily_by_project success_rate_by_project success_rate_by_type regressions success_rate_without_platform fact_builds fact_months build_times_daily log_sizes open_builds backlog arrivals arrivals_hourly failing_now failing_projects project_states streaks recoveries time_to_recover instability broke_daily incident_hours error_classes error_fingerprints error_lines error_fingerprints_daily error_rules freshness runs walks quarantine broken_references schema_changes project_changes muted_projects data_dictionary)' ;;
        sql)
          _arguments '--database-url=[where the mirror is\: postgres\://user\:password@host\:port/database]: : ' \
            '--database-password=[the password for DATABASE_URL and DOCMIRROR_READ_URL where they name none, as it is, in any characters; newlines at its end are cut]: : ' \
            '--read-url=[where report, export and serve read, such as a streaming replica\: postgres\://user\:password@host\:port/database]: : ' \
            '--data-dir=[the embedded Postgres'\'' data, relative to the working directory]: :_directories' \
            '--source-timezone=[the time zone of upstream'\''s timestamps, which do not name it; an IANA name (America/Chicago for old hosted data)]: : ' \
            '--stuck-after=[a build that was open for longer than this when it was last seen is stuck; units ms s m h d w, as in 1h30m]: : ' \
            '--log-level=[fatal, error, warn, info, debug, trace or silent]: :(fatal error warn info debug trace silent)' \
            '--log-format=[pretty, json, or auto\: pretty on a terminal, else JSON]: :(auto pretty json)' \
            '--verbose[stack traces, and a debug log unless --log-level says otherwise]' \
            '--no-color[no colours (setting\: NO_COLOR; FORCE_COLOR asks for them)]' \
            '--format=[the output format]: :(table csv json md)' \
            '--json[short for --format json]' \
            '--bom[with --format csv\: a byte order mark in front, by which Excel reads UTF-8]' \
            '--role=[whose rights it has]: : ' \
            '--timeout=[how long Postgres may work until the first rows, and on each further batch]: : ' \
            '--help[shows the help]' \
            '1: : ' ;;
        export)
          _arguments '--database-url=[where the mirror is\: postgres\://user\:password@host\:port/database]: : ' \
            '--database-password=[the password for DATABASE_URL and DOCMIRROR_READ_URL where they name none, as it is, in any characters; newlines at its end are cut]: : ' \
            '--read-url=[where report, export and serve read, such as a streaming replica\: postgres\://user\:password@host\:port/database]: : ' \
            '--data-dir=[the embedded Postgres'\'' data, relative to the working directory]: :_directories' \
            '--source-timezone=[the time zone of upstream'\''s timestamps, which do not name it; an IANA name (America/Chicago for old hosted data)]: : ' \
            '--stuck-after=[a build that was open for longer than this when it was last seen is stuck; units ms s m h d w, as in 1h30m]: : ' \
            '--log-level=[fatal, error, warn, info, debug, trace or silent]: :(fatal error warn info debug trace silent)' \
            '--log-format=[pretty, json, or auto\: pretty on a terminal, else JSON]: :(auto pretty json)' \
            '--verbose[stack traces, and a debug log unless --log-level says otherwise]' \
            '--no-color[no colours (setting\: NO_COLOR; FORCE_COLOR asks for them)]' \
            '--out=[the folder to write; an earlier export in it is replaced; required]: :_directories' \
            '--format=[format of the files]: :(parquet csv)' \
            '--incremental[keep the files of months that have not changed since the last export]' \
            '--since=[from this day (2026-11-03) or time (2026-11-03T12\:00Z) on, in UTC, or from a span ago (7d)]: : ' \
            '--until=[up to the end of this day, up to this time, or up to a span ago]: : ' \
            '--logs[the logs of finished builds instead; only adds files, as Parquet]' \
            '--json[print one JSON document]' \
            '--help[shows the help]' ;;
        backup)
          _arguments '--database-url=[where the mirror is\: postgres\://user\:password@host\:port/database]: : ' \
            '--database-password=[the password for DATABASE_URL and DOCMIRROR_READ_URL where they name none, as it is, in any characters; newlines at its end are cut]: : ' \
            '--data-dir=[the embedded Postgres'\'' data, relative to the working directory]: :_directories' \
            '--log-level=[fatal, error, warn, info, debug, trace or silent]: :(fatal error warn info debug trace silent)' \
            '--log-format=[pretty, json, or auto\: pretty on a terminal, else JSON]: :(auto pretty json)' \
            '--verbose[stack traces, and a debug log unless --log-level says otherwise]' \
            '--no-color[no colours (setting\: NO_COLOR; FORCE_COLOR asks for them)]' \
            '--keep=[keep so many of the newest backups in the folder, and the first one of each of the last twelve months]: : ' \
            '--json[print one JSON document]' \
            '--help[shows the help]' \
            '1: :_files' ;;
        restore)
          _arguments '--database-url=[where the mirror is\: postgres\://user\:password@host\:port/database]: : ' \
            '--database-password=[the password for DATABASE_URL and DOCMIRROR_READ_URL where they name none, as it is, in any characters; newlines at its end are cut]: : ' \
            '--data-dir=[the embedded Postgres'\'' data, relative to the working directory]: :_directories' \
            '--source-timezone=[the time zone of upstream'\''s timestamps, which do not name it; an IANA name (America/Chicago for old hosted data)]: : ' \
            '--stuck-after=[a build that was open for longer than this when it was last seen is stuck; units ms s m h d w, as in 1h30m]: : ' \
            '--log-level=[fatal, error, warn, info, debug, trace or silent]: :(fatal error warn info debug trace silent)' \
            '--log-format=[pretty, json, or auto\: pretty on a terminal, else JSON]: :(auto pretty json)' \
            '--verbose[stack traces, and a debug log unless --log-level says otherwise]' \
            '--no-color[no colours (setting\: NO_COLOR; FORCE_COLOR asks for them)]' \
            '--json[print one JSON document]' \
            '--help[shows the help]' \
            '1: :_files' ;;
        explain)
          _arguments '--database-url=[where the mirror is\: postgres\://user\:password@host\:port/database]: : ' \
            '--database-password=[the password for DATABASE_URL and DOCMIRROR_READ_URL where they name none, as it is, in any characters; newlines at its end are cut]: : ' \
            '--data-dir=[the embedded Postgres'\'' data, relative to the working directory]: :_directories' \
            '--source-timezone=[the time zone of upstream'\''s timestamps, which do not name it; an IANA name (America/Chicago for old hosted data)]: : ' \
            '--log-level=[fatal, error, warn, info, debug, trace or silent]: :(fatal error warn info debug trace silent)' \
            '--log-format=[pretty, json, or auto\: pretty on a terminal, else JSON]: :(auto pretty json)' \
            '--verbose[stack traces, and a debug log unless --log-level says otherwise]' \
            '--no-color[no colours (setting\: NO_COLOR; FORCE_COLOR asks for them)]' \
            '--json[print one JSON document]' \
            '--help[shows the help]' \
            '1: :(build)' \
            '2: : ' ;;
        get)
          _arguments '--database-url=[where the mirror is\: postgres\://user\:password@host\:port/database]: : ' \
            '--database-password=[the password for DATABASE_URL and DOCMIRROR_READ_URL where they name none, as it is, in any characters; newlines at its end are cut]: : ' \
            '--data-dir=[the embedded Postgres'\'' data, relative to the working directory]: :_directories' \
            '--base-url=[the service to mirror\: the URL before /api/v1/, with its path prefix if it has one]: : ' \
            '--contact=[where the service'\''s owner can reach you, an e-mail address or a URL; sent in the User-Agent of each request]: : ' \
            '--rate=[requests a second, all resources together, evenly spaced; 0.5 is one every 2 s, 0 is no limit]: : ' \
            '--timeout-ms=[time for one request, headers and body, in milliseconds]: : ' \
            '--retries=[tries after the first, 0 to 100; Retry-After is obeyed]: : ' \
            '--max-body-mb=[the longest reply that is accepted, 1 to 511 megabytes]: : ' \
            '--ignored-fields=[fields that make no record another one, such as build.output_url,user.token, because they differ in each reply; their values are kept as they came with a change of another field, and are in no history]: : ' \
            '--log-level=[fatal, error, warn, info, debug, trace or silent]: :(fatal error warn info debug trace silent)' \
            '--log-format=[pretty, json, or auto\: pretty on a terminal, else JSON]: :(auto pretty json)' \
            '--verbose[stack traces, and a debug log unless --log-level says otherwise]' \
            '--no-color[no colours (setting\: NO_COLOR; FORCE_COLOR asks for them)]' \
            '--filter=[narrow the list; may be repeated]: : ' \
            '--schema[the resource'\''s schema]' \
            '--limit=[the page'\''s size]: : ' \
            '--offset=[where the page starts]: : ' \
            '--search=[what the service'\''s search finds\: in files, or in one project'\''s pages]: : ' \
            '--anchors[with --search\: addresses of anchors in place of files]' \
            '--project=[with --search of files\: shows only its hits of the page]: : ' \
            '--in-version=[with --search in a project\: the version to search]: : ' \
            '--page=[with --search of files\: the page of hits]: : ' \
            '--local[search the mirror'\''s own index, which `docmirror sync --content` fills]' \
            '--json[print the reply\: the service'\''s as it came, or the mirror'\''s]' \
            '--help[shows the help]' \
            '1: :(user project version file build)' \
            '2: : ' ;;
        quarantine)
          _arguments '--database-url=[where the mirror is\: postgres\://user\:password@host\:port/database]: : ' \
            '--database-password=[the password for DATABASE_URL and DOCMIRROR_READ_URL where they name none, as it is, in any characters; newlines at its end are cut]: : ' \
            '--data-dir=[the embedded Postgres'\'' data, relative to the working directory]: :_directories' \
            '--base-url=[the service to mirror\: the URL before /api/v1/, with its path prefix if it has one]: : ' \
            '--source-timezone=[the time zone of upstream'\''s timestamps, which do not name it; an IANA name (America/Chicago for old hosted data)]: : ' \
            '--stuck-after=[a build that was open for longer than this when it was last seen is stuck; units ms s m h d w, as in 1h30m]: : ' \
            '--log-level=[fatal, error, warn, info, debug, trace or silent]: :(fatal error warn info debug trace silent)' \
            '--log-format=[pretty, json, or auto\: pretty on a terminal, else JSON]: :(auto pretty json)' \
            '--verbose[stack traces, and a debug log unless --log-level says otherwise]' \
            '--no-color[no colours (setting\: NO_COLOR; FORCE_COLOR asks for them)]' \
            '--resource=[only this one\: user, project, version, file, build]: :(user project version file build)' \
            '--all[list resolved ones too]' \
            '--limit=[how many to list]: : ' \
            '--retry[try to store them again; exits 3 when some stay]' \
            '--json[print one JSON document]' \
            '--help[shows the help]' ;;
        notify)
          _arguments '--database-url=[where the mirror is\: postgres\://user\:password@host\:port/database]: : ' \
            '--database-password=[the password for DATABASE_URL and DOCMIRROR_READ_URL where they name none, as it is, in any characters; newlines at its end are cut]: : ' \
            '--data-dir=[the embedded Postgres'\'' data, relative to the working directory]: :_directories' \
            '--stale-after=[a list that was not read well for this long is stale; units ms s m h d w, as in 1d6h]: : ' \
            '--webhook-url=[gets a POST when something needs attention (docs/notices.md)]: : ' \
            '--webhook-secret=[signs what DOCMIRROR_WEBHOOK_URL gets\: whsec_ and 24 to 64 bytes in base64]: : ' \
            '--webhook-format=[how notices are written\: standard (signed), or as an incoming webhook of slack or a workflow of teams takes them]: :(standard slack teams)' \
            '--notice-types=[the types of notices that are sent, separated by commas, such as run.ended,builds.quiet]: : ' \
            '--notice-projects=[the projects of which breaks and fixes are sent\: slugs separated by commas, * for any letters, such as docs-*,pip]: : ' \
            '--log-level=[fatal, error, warn, info, debug, trace or silent]: :(fatal error warn info debug trace silent)' \
            '--log-format=[pretty, json, or auto\: pretty on a terminal, else JSON]: :(auto pretty json)' \
            '--verbose[stack traces, and a debug log unless --log-level says otherwise]' \
            '--no-color[no colours (setting\: NO_COLOR; FORCE_COLOR asks for them)]' \
            '--test[send a test notice; exits 5 unless the receiver takes it]' \
            '--retry[send what waits and what was given up; exits 5 when some still wait]' \
            '--mute=[note no break and no fix of a project for a while]: : ' \
            '--for=[how long, with --mute; units m h d w, as in 2d]: : ' \
            '--unmute=[note them again from now on]: : ' \
            '--json[print one JSON document]' \
            '--help[shows the help]' ;;
        migrate)
          _arguments '--database-url=[where the mirror is\: postgres\://user\:password@host\:port/database]: : ' \
            '--database-password=[the password for DATABASE_URL and DOCMIRROR_READ_URL where they name none, as it is, in any characters; newlines at its end are cut]: : ' \
            '--data-dir=[the embedded Postgres'\'' data, relative to the working directory]: :_directories' \
            '--source-timezone=[the time zone of upstream'\''s timestamps, which do not name it; an IANA name (America/Chicago for old hosted data)]: : ' \
            '--stuck-after=[a build that was open for longer than this when it was last seen is stuck; units ms s m h d w, as in 1h30m]: : ' \
            '--log-level=[fatal, error, warn, info, debug, trace or silent]: :(fatal error warn info debug trace silent)' \
            '--log-format=[pretty, json, or auto\: pretty on a terminal, else JSON]: :(auto pretty json)' \
            '--verbose[stack traces, and a debug log unless --log-level says otherwise]' \
            '--no-color[no colours (setting\: NO_COLOR; FORCE_COLOR asks for them)]' \
            '--status[list the migrations, change nothing]' \
            '--dry-run[print the SQL that would run, change nothing]' \
            '--service=[store that the service of this mirror moved to this base URL; a sync of another one is refused]: : ' \
            '--worker=[give this role, which has to be there, all that a worker needs, and no right to change a table]: : ' \
            '--json[print one JSON document]' \
            '--help[shows the help]' ;;
        grant-reader)
          _arguments '--database-url=[where the mirror is\: postgres\://user\:password@host\:port/database]: : ' \
            '--database-password=[the password for DATABASE_URL and DOCMIRROR_READ_URL where they name none, as it is, in any characters; newlines at its end are cut]: : ' \
            '--data-dir=[the embedded Postgres'\'' data, relative to the working directory]: :_directories' \
            '--log-level=[fatal, error, warn, info, debug, trace or silent]: :(fatal error warn info debug trace silent)' \
            '--log-format=[pretty, json, or auto\: pretty on a terminal, else JSON]: :(auto pretty json)' \
            '--verbose[stack traces, and a debug log unless --log-level says otherwise]' \
            '--no-color[no colours (setting\: NO_COLOR; FORCE_COLOR asks for them)]' \
            '--with-people[users'\'' names and logins too; without this flag a role loses that right]' \
            '--interface[all that `docmirror serve` reads\: the mirrored records too, with users'\'' names and logins]' \
            '--dry-run[print the SQL that would run, change nothing]' \
            '--json[print one JSON document]' \
            '--help[shows the help]' \
            '1: : ' ;;
        reclassify)
          _arguments '--database-url=[where the mirror is\: postgres\://user\:password@host\:port/database]: : ' \
            '--database-password=[the password for DATABASE_URL and DOCMIRROR_READ_URL where they name none, as it is, in any characters; newlines at its end are cut]: : ' \
            '--data-dir=[the embedded Postgres'\'' data, relative to the working directory]: :_directories' \
            '--source-timezone=[the time zone of upstream'\''s timestamps, which do not name it; an IANA name (America/Chicago for old hosted data)]: : ' \
            '--stuck-after=[a build that was open for longer than this when it was last seen is stuck; units ms s m h d w, as in 1h30m]: : ' \
            '--log-level=[fatal, error, warn, info, debug, trace or silent]: :(fatal error warn info debug trace silent)' \
            '--log-format=[pretty, json, or auto\: pretty on a terminal, else JSON]: :(auto pretty json)' \
            '--verbose[stack traces, and a debug log unless --log-level says otherwise]' \
            '--no-color[no colours (setting\: NO_COLOR; FORCE_COLOR asks for them)]' \
            '--dry-run[count, change nothing]' \
            '--json[print one JSON document]' \
            '--help[shows the help]' ;;
        prune)
          _arguments '--database-url=[where the mirror is\: postgres\://user\:password@host\:port/database]: : ' \
            '--database-password=[the password for DATABASE_URL and DOCMIRROR_READ_URL where they name none, as it is, in any characters; newlines at its end are cut]: : ' \
            '--data-dir=[the embedded Postgres'\'' data, relative to the working directory]: :_directories' \
            '--source-timezone=[the time zone of upstream'\''s timestamps, which do not name it; an IANA name (America/Chicago for old hosted data)]: : ' \
            '--log-level=[fatal, error, warn, info, debug, trace or silent]: :(fatal error warn info debug trace silent)' \
            '--log-format=[pretty, json, or auto\: pretty on a terminal, else JSON]: :(auto pretty json)' \
            '--verbose[stack traces, and a debug log unless --log-level says otherwise]' \
            '--no-color[no colours (setting\: NO_COLOR; FORCE_COLOR asks for them)]' \
            '--older-than=[remove changes and runs that are older than this, such as 400d]: : ' \
            '--logs-older-than=[remove logs of finished builds that are older than this]: : ' \
            '--logs-export=[the folder of `export --logs`; only logs that it holds are removed]: :_directories' \
            '--dry-run[count what would be removed, remove nothing]' \
            '--json[print one JSON document]' \
            '--help[shows the help]' ;;
        forget)
          _arguments '--database-url=[where the mirror is\: postgres\://user\:password@host\:port/database]: : ' \
            '--database-password=[the password for DATABASE_URL and DOCMIRROR_READ_URL where they name none, as it is, in any characters; newlines at its end are cut]: : ' \
            '--data-dir=[the embedded Postgres'\'' data, relative to the working directory]: :_directories' \
            '--source-timezone=[the time zone of upstream'\''s timestamps, which do not name it; an IANA name (America/Chicago for old hosted data)]: : ' \
            '--stuck-after=[a build that was open for longer than this when it was last seen is stuck; units ms s m h d w, as in 1h30m]: : ' \
            '--log-level=[fatal, error, warn, info, debug, trace or silent]: :(fatal error warn info debug trace silent)' \
            '--log-format=[pretty, json, or auto\: pretty on a terminal, else JSON]: :(auto pretty json)' \
            '--verbose[stack traces, and a debug log unless --log-level says otherwise]' \
            '--no-color[no colours (setting\: NO_COLOR; FORCE_COLOR asks for them)]' \
            '--texts[replace the names in logs too, which reads all of them]' \
            '--force[also a user that the service still shows; the next full walk reads it again]' \
            '--dry-run[count, change nothing]' \
            '--json[print one JSON document]' \
            '--help[shows the help]' \
            '1: :(user)' \
            '2: : ' ;;
        simulate)
          _arguments '--log-level=[fatal, error, warn, info, debug, trace or silent]: :(fatal error warn info debug trace silent)' \
            '--log-format=[pretty, json, or auto\: pretty on a terminal, else JSON]: :(auto pretty json)' \
            '--verbose[stack traces, and a debug log unless --log-level says otherwise]' \
            '--no-color[no colours (setting\: NO_COLOR; FORCE_COLOR asks for them)]' \
            '--users=[users at the start]: : ' \
            '--projects=[projects at the start]: : ' \
            '--versions=[versions at the start, one a project at least]: : ' \
            '--files=[files at the start]: : ' \
            '--builds=[builds at the start]: : ' \
            '--seed=[equal seeds and days give equal worlds]: : ' \
            '--port=[where to listen; 0 takes a free one]: : ' \
            '--start=[where virtual time begins, at noon of UTC]: : ' \
            '--speed=[virtual seconds a second; 0 stops the clock]: : ' \
            '--host=[where to listen; 0.0.0.0 lets other machines in]: : ' \
            '--time-zone=[the zone of all dates on the wire, an IANA name]: : ' \
            '--latency-ms=[the wait before each reply]: : ' \
            '--json[print one JSON document]' \
            '--help[shows the help]' ;;
        database)
          _arguments '--data-dir=[the embedded Postgres'\'' data, relative to the working directory]: :_directories' \
            '--log-level=[fatal, error, warn, info, debug, trace or silent]: :(fatal error warn info debug trace silent)' \
            '--log-format=[pretty, json, or auto\: pretty on a terminal, else JSON]: :(auto pretty json)' \
            '--verbose[stack traces, and a debug log unless --log-level says otherwise]' \
            '--no-color[no colours (setting\: NO_COLOR; FORCE_COLOR asks for them)]' \
            '--with-password[print the URL with its password]' \
            '--json[print one JSON document]' \
            '--help[shows the help]' ;;
        config)
          _arguments '--database-url=[where the mirror is\: postgres\://user\:password@host\:port/database]: : ' \
            '--database-password=[the password for DATABASE_URL and DOCMIRROR_READ_URL where they name none, as it is, in any characters; newlines at its end are cut]: : ' \
            '--read-url=[where report, export and serve read, such as a streaming replica\: postgres\://user\:password@host\:port/database]: : ' \
            '--data-dir=[the embedded Postgres'\'' data, relative to the working directory]: :_directories' \
            '--database-limit=[how large the database may become, in gigabytes of 10^9 bytes, such as what its host sells; status, doctor and an alert say when it is full]: : ' \
            '--base-url=[the service to mirror\: the URL before /api/v1/, with its path prefix if it has one]: : ' \
            '--contact=[where the service'\''s owner can reach you, an e-mail address or a URL; sent in the User-Agent of each request]: : ' \
            '--page-size=[records per page, 1 to 1000; auto begins at 100 and takes more while replies stay under five seconds and six megabytes; the server may send fewer]: : ' \
            '--rate=[requests a second, all resources together, evenly spaced; 0.5 is one every 2 s, 0 is no limit]: : ' \
            '--concurrency=[requests in flight at once, 1 to 64]: : ' \
            '--timeout-ms=[time for one request, headers and body, in milliseconds]: : ' \
            '--retries=[tries after the first, 0 to 100; Retry-After is obeyed]: : ' \
            '--max-body-mb=[the longest reply that is accepted, 1 to 511 megabytes]: : ' \
            '--sync-cron=[when the worker syncs]: : ' \
            '--full-every-days=[the nights in which all builds are read again, an even share in each; auto is 1 where a full walk of all lists takes at most 30 minutes at this rate, else 7]: : ' \
            '--watch-cron=[when watch and worker poll open builds and read new ones]: : ' \
            '--timezone=[the schedule'\''s time zone, an IANA name]: : ' \
            '--source-timezone=[the time zone of upstream'\''s timestamps, which do not name it; an IANA name (America/Chicago for old hosted data)]: : ' \
            '--stuck-after=[a build that was open for longer than this when it was last seen is stuck; units ms s m h d w, as in 1h30m]: : ' \
            '--final-states=[more states in which builds end, neither as a success nor as a failure, such as expired,superseded; known are finished, cancelled, canceled, aborted, error, skipped (docs/builds.md)]: : ' \
            '--stale-after=[a list that was not read well for this long is stale; units ms s m h d w, as in 1d6h]: : ' \
            '--max-delete-ratio=[the share of the known records, 0 to 1, that a walk may miss; when it misses more, nothing is marked deleted]: : ' \
            '--delete-held-after=[how long whole walks must miss what that ratio holds back before it is deleted, where each detail answers 404; more than half of a list always waits for a person; units ms s m h d w, or never]: : ' \
            '--replica-lag=[how far a replica of the service may be behind; nothing is marked deleted within this time of its last sighting; units ms s m h d w, at most 1w, 0s is none]: : ' \
            '--ignored-fields=[fields that make no record another one, such as build.output_url,user.token, because they differ in each reply; their values are kept as they came with a change of another field, and are in no history]: : ' \
            '--leave-out=[resources that a sync leaves out, such as build,file; their rows are kept. One that the root listing lacked for a week is left out by itself]: : ' \
            '--verify-sample=[random records that a sync compares with the service after a good end, one request each, as `docmirror verify` does; 0 is none]: : ' \
            '--content=[on\: a sync also fetches the pages of the files, for the searches (docs/content.md)]:: :(on off)' \
            '--docs-url=[where the pages of the files are, when they are on another host than the API]: : ' \
            '--content-budget=[how long one sync may fetch pages, after its lists, in minutes; the next one continues]: : ' \
            '--http-host=[the address that worker and serve listen on]: : ' \
            '--http-port=[the port of worker and serve; 0 takes a free one]: : ' \
            '--http-allowed-hosts=[further host names under which worker and serve answer, separated by commas, such as mirror.example.org; requests for another name get 421]: : ' \
            '--http-rate=[requests a second that worker and serve answer to each client; 0 is no limit, auto is 0 on a loopback address and 100 on any other]: : ' \
            '--http-cors=[the origins whose web pages may read the interface in a browser, separated by commas, such as https\://docs.example.org; * is any]: : ' \
            '--backup-cron=[when the worker writes a backup into DOCMIRROR_BACKUP_DIR; a failed one is tried again after 15 and 60 minutes]: : ' \
            '--backup-dir=[the folder of the backups, which must be there\: name one in the mount, so that a lost mount fills no other disk]: :_directories' \
            '--backup-keep=[how many of the newest backups stay, beside the first one of each of the last twelve months]: : ' \
            '--export-cron=[when the worker exports into DOCMIRROR_EXPORT_DIR and DOCMIRROR_EXPORT_LOGS_DIR]: : ' \
            '--export-dir=[the folder of builds and dimensions as Parquet, as `docmirror export --incremental` writes it]: :_directories' \
            '--export-logs-dir=[the folder of the logs of builds, as `docmirror export --logs` writes it]: :_directories' \
            '--prune-cron=[when the worker removes rounds of the watch from over 400 days ago, and what DOCMIRROR_HISTORY_KEEP leaves; or never]: : ' \
            '--history-keep=[the worker removes older changes and runs too, as `docmirror prune --older-than` does; units ms s m h d w, as in 400d]: : ' \
            '--webhook-url=[gets a POST when something needs attention (docs/notices.md)]: : ' \
            '--webhook-secret=[signs what DOCMIRROR_WEBHOOK_URL gets\: whsec_ and 24 to 64 bytes in base64]: : ' \
            '--webhook-format=[how notices are written\: standard (signed), or as an incoming webhook of slack or a workflow of teams takes them]: :(standard slack teams)' \
            '--notice-types=[the types of notices that are sent, separated by commas, such as run.ended,builds.quiet]: : ' \
            '--notice-projects=[the projects of which breaks and fixes are sent\: slugs separated by commas, * for any letters, such as docs-*,pip]: : ' \
            '--log-level=[fatal, error, warn, info, debug, trace or silent]: :(fatal error warn info debug trace silent)' \
            '--log-format=[pretty, json, or auto\: pretty on a terminal, else JSON]: :(auto pretty json)' \
            '--verbose[stack traces, and a debug log unless --log-level says otherwise]' \
            '--no-color[no colours (setting\: NO_COLOR; FORCE_COLOR asks for them)]' \
            '--json[print one JSON document]' \
            '--help[shows the help]' ;;
        completion)
          _arguments '--log-level=[fatal, error, warn, info, debug, trace or silent]: :(fatal error warn info debug trace silent)' \
            '--log-format=[pretty, json, or auto\: pretty on a terminal, else JSON]: :(auto pretty json)' \
            '--verbose[stack traces, and a debug log unless --log-level says otherwise]' \
            '--no-color[no colours (setting\: NO_COLOR; FORCE_COLOR asks for them)]' \
            '--help[shows the help]' \
            '1: :(bash zsh fish)' ;;
        help) _arguments '1: :_docmirror_commands' ;;
      esac ;;
  esac
}
_docmirror_commands() { _values command demo sync watch worker serve status doctor verify report sql export backup restore explain get quarantine notify migrate grant-reader reclassify prune forget simulate database config completion; }
if [[ $funcstack[1] == _docmirror ]]; then _docmirror "$@"; else compdef _docmirror docmirror; fi
