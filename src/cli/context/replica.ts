/**
 * The replica that `DOCMIRROR_READ_URL` names: a standby that follows the primary by itself. Commands that
 * take it read there alone, and never write there.
 */
import type { Config } from "../../base/config.ts";
import { ConfigError, SchemaVersionError, StoreError } from "../../base/errors.ts";
import { isRecoveryConflict } from "../../store/connection/recovery-conflict.ts";
import { sqlstateOf } from "../../store/connection/store-errors.ts";

/** Where a command reads: the same settings, whose database is the replica where one is named. */
export function readSettings(config: Config): Config {
  return config.readUrl === null ? config : { ...config, databaseUrl: config.readUrl };
}

/** The settings of the sessions in which a command reads. The database behind that URL may take writes. */
export function readSession({ readUrl }: Config): Record<string, string> {
  return readUrl === null ? {} : { default_transaction_read_only: "on" };
}

/** Runs `fn`. Where a replica is named, the hints of errors tell what to do about that one. */
export async function withReplicaHints<T>({ readUrl }: Config, fn: () => Promise<T>): Promise<T> {
  if (readUrl === null) return fn();
  try {
    return await fn();
  } catch (error) {
    throw ofReplica(error);
  }
}

const NOT_THERE =
  "start the replica, or correct host and port in DOCMIRROR_READ_URL; without that setting DATABASE_URL is read";
const CONFLICT =
  "the replica had to replay a change that the query held up: run it again, or set hot_standby_feedback = on there, or a longer max_standby_streaming_delay";

function ofReplica(error: unknown): unknown {
  if (error instanceof ConfigError)
    return new ConfigError(named(error.message), { cause: error, hint: error.hint && named(error.hint) });
  if (error instanceof SchemaVersionError) {
    const hint = `${named(error.hint ?? "")}; a replica has the schema once it has replayed what the primary did`;
    return new SchemaVersionError(error.message, { cause: error, hint });
  }
  if (!(error instanceof StoreError)) return error;
  const { message, sqlstate } = error;
  const hint = hintFor(error);
  return new StoreError(`could not read the replica: ${message}`, { cause: error, sqlstate, hint });
}

function hintFor(error: StoreError): string | undefined {
  if (isRecoveryConflict(error)) return CONFLICT;
  if (["ECONNREFUSED", "ENOENT"].includes(sqlstateOf(error) ?? "")) return NOT_THERE;
  return error.hint && named(error.hint);
}

/** Texts about the database name the setting that most commands take. */
function named(text: string): string {
  return text.replaceAll("DATABASE_URL", "DOCMIRROR_READ_URL");
}
