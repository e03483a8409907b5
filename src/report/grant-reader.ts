import { ConfigError, StoreError } from "../base/errors.ts";
import { RESOURCES } from "../resources/resources.ts";
import { runText, type Sql, statement, withTransaction } from "../store/connection/sql.ts";
import { sqlstateOf, toStoreError, withStoreErrors } from "../store/connection/store-errors.ts";

const READER_RIGHTS = statement<RoleFacts>("reader_rights", import.meta.url);
const READER_GRANTS = statement<{ statement: string }>("reader_grants", import.meta.url);
const IS_READER = statement<{ may: boolean }>("is_reader", import.meta.url);

export interface ReaderOptions {
  /** Users' names and logins too (schema `report_people`); without it, a role loses that right. @default false */
  withPeople?: boolean;
  /** All that `docmirror serve` reads: the mirrored records too, with users. @default false */
  withInterface?: boolean;
}

interface ReaderGrant extends Required<ReaderOptions> {
  role: string;
  /** The role does not exist yet, so the statements create it. */
  isNew: boolean;
  /** They give the role just these rights, and UTC as its zone, in order and without semicolons. Safe to repeat. */
  statements: string[];
  /** Rights of the role beyond reading, which it already had. */
  warnings: string[];
}

/**
 * `docmirror serve` reads these beside schema `report`: the interface the records, the page of a build its history,
 * `/status.json` and the metrics how runs, jobs and notices go. Nothing else is granted, such as the replies of upstream in
 * `sync.pages`. A table that this version does not have is left out.
 */
const INTERFACE_RELATIONS = [
  ...RESOURCES.map((resource) => `mirror.${resource}s`),
  "mirror.archived_logs",
  "mirror.build_logs",
  "mirror.build_transitions",
  "mirror.changes",
  "mirror.file_anchors",
  "mirror.file_contents",
  "mirror.log_files",
  "mirror.past_transitions",
  "mirror.project_users",
  "mirror.unresolved_references",
  "sync.build_states",
  "sync.checks",
  "sync.definitions",
  "sync.drift",
  "sync.jobs",
  "sync.leases",
  "sync.lists",
  "sync.migrations",
  "sync.missing_records",
  "sync.muted_projects",
  "sync.open_builds",
  "sync.prunings",
  "sync.quarantine",
  "sync.revisions",
  "sync.rounds",
  "sync.runs",
  "sync.service",
  "sync.upstream_schemas",
  "sync.walks",
];

/**
 * The metrics count notices by these columns. The rest of a notice is for the receiver of the webhook alone, as are the errors of its
 * replies.
 */
const NOTICES = "sync.notices";
const COUNTED_OF_NOTICES = "noted_at, delivered_at, given_up_at";
const SERVED = [...INTERFACE_RELATIONS, NOTICES];

/** A longer query of a BI tool is probably a mistake, and a refresh may have to wait for it. */
const STATEMENT_TIMEOUT = "60s";
/** Postgres cuts longer names off. */
const MAX_NAME_BYTES = 63;
/** Names of people, tools and accounts of a cloud, such as `sales-bi@example.iam`. */
const PLAIN_NAME = /^[\p{L}_][\p{L}\p{N}_.@$-]*$/u;

/** With the first relation outside of `report` that it can already read, and the role that gives the right. */
type RoleFacts = Record<"exists" | "superuser" | "createrole", boolean> &
  Record<"reads" | "through", string | null>;

/**
 * Plans the grants that let a role read schema `report` and what the options add, and nothing else of docmirror's. Throws
 * ConfigError for a name that no role can have, for a new role whose name is not plain, and for a role that can already
 * read more: grants would not limit it.
 */
export async function planReaderGrant(
  sql: Sql,
  role: string,
  { withPeople = false, withInterface = false }: ReaderOptions = {},
): Promise<ReaderGrant> {
  const allowed = withInterface ? SERVED : [];
  const fault = nameFault(role);
  if (fault !== null) throw new ConfigError(`no role can be called ${JSON.stringify(role)}: ${fault}`);
  return withStoreErrors("read the rights of the role", async () => {
    const [facts] = await READER_RIGHTS(sql, { role, allowed });
    if (facts === undefined) throw new Error("a select over one row gave none");
    // Such a name is legal in quotes, but a typing mistake or a pasted statement is more likely than the wish for it.
    if (!facts.exists && !PLAIN_NAME.test(role))
      throw new ConfigError(`there is no role ${JSON.stringify(role)}, and a new one needs a plain name`, {
        hint: "use letters, digits and _ - . @ $, or make that role yourself and repeat the command",
      });
    assertFenced(role, facts);
    const isNew = !facts.exists;
    // Postgres quotes the names, because it knows its reserved words. Rights on later views must name the role
    // that will create them.
    const grants = await READER_GRANTS(sql, {
      role,
      withPeople,
      granted: withInterface ? INTERFACE_RELATIONS : [],
      isNew,
      timeout: STATEMENT_TIMEOUT,
      notices: NOTICES,
      counted: COUNTED_OF_NOTICES,
    });
    const statements = grants.map(({ statement }) => statement);
    const warnings = facts.createrole ? ["it may create roles, and so give itself more rights"] : [];
    return { role, isNew, withPeople, withInterface, statements, warnings };
  });
}

/** True where a role exists that may read all that such a plan grants. */
export async function isReader(sql: Sql, role: string, options: ReaderOptions): Promise<boolean> {
  const schemas = ["report", ...(options.withPeople ? ["report_people"] : [])];
  const relations = options.withInterface ? SERVED : [];
  const [reader] = await IS_READER(sql, { schemas, relations, role });
  return reader?.may === true;
}

/** Runs the plan, all or nothing. Throws StoreError; where a right is missing, the hint says how to continue. */
export async function grantReader(sql: Sql, { role, statements }: ReaderGrant): Promise<void> {
  try {
    await withTransaction(sql, async (tx) => {
      // Text that the server wrote: it quotes the names.
      for (const statement of statements) await runText(tx, statement);
    });
  } catch (error) {
    if (sqlstateOf(error) !== "42501") throw toStoreError(error, `grant rights to ${role}`);
    throw new StoreError(`could not grant rights to ${role}: ${(error as Error).message} (42501)`, {
      cause: error,
      sqlstate: "42501",
      hint: "ask a role that may create roles (CREATEROLE) and owns the schema report to run what --dry-run prints",
    });
  }
}

function nameFault(role: string): string | null {
  if (role === "") return "it is empty";
  if (role.includes("\0")) return "it contains a character that no name can have";
  if (Buffer.byteLength(role) > MAX_NAME_BYTES) return `it is longer than ${MAX_NAME_BYTES} bytes`;
  if (/^(?:public|none)$|^pg_/.test(role)) return "Postgres reserves this name";
  return null;
}

function assertFenced(role: string, { superuser, reads, through }: RoleFacts): void {
  const hint = "use a separate role for reading, as in: `docmirror grant-reader docmirror_reader`";
  if (superuser) throw new ConfigError(`${role} is a superuser and can already read everything`, { hint });
  if (reads === null) return;
  const by = through === role ? "" : ` as ${through}`;
  const keep = SERVED.includes(reads) ? ", or keep it with --interface" : "";
  throw new ConfigError(`${role} can already read more than the report: ${reads}${by}`, {
    hint: `${hint}; or revoke that right first${keep}`,
  });
}
