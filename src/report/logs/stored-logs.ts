/** Which logs leave, as `export --logs` and `prune --logs-older-than` both see it. */
import type { SQL } from "drizzle-orm";
import { compose } from "../../store/connection/run-statement.ts";

/**
 * The logs of finished builds that say something: `build`, its `log`, the `month` of the build's date, and the `bytes` of
 * the texts. That of a build that goes on may still grow.
 */
export const storedLogs = (sourceTimezone: string): SQL => compose`
  mirror.build_logs as log
  join mirror.builds as build on build.id = log.build_id and build.state = 'finished'
  cross join lateral (
    select coalesce(to_char((build.date at time zone ${sourceTimezone}::text) at time zone 'UTC', 'YYYY-MM'), 'undated') as month,
      (coalesce(octet_length(log.output), 0) + coalesce(octet_length(log.error), 0)
        + coalesce(octet_length(log.setup), 0) + coalesce(octet_length(log.setup_error), 0))::float8 as bytes
  ) as fact`;

export const HAS_TEXT: SQL = compose`bytes > 0`;

export const LOG_HASH: SQL = compose`mirror.log_hash(log.output, log.error, log.setup, log.setup_error)`;
