/** Says when the head of a list has joined the records that were read before, so that all behind it is here. */
import type { Resource } from "../../resources/resources.ts";
import { compose, composed, type Sql } from "../../store/connection/sql.ts";
import type { RunParts } from "../load/run-parts.ts";
import { RECORD_TABLES } from "../load/tables.ts";
import type { IdSet } from "../walk/id-set.ts";
import { type Page, shownDates } from "../walk/page.ts";

const DAY_MS = 86_400_000;
/** The number of known records in a row after which the head has joined. */
const JOIN_RECORDS = 20;

/** Judges the pages of a head in their order. */
interface HeadJoin {
  /** Adds a page that is stored. */
  add(page: Page): Promise<void>;
  isJoined(): boolean;
}

/**
 * @param joinedRunId up to this run the stored records have no gap at the head
 * @param own what no reading of this run met before this one: it has a gap behind it where the course steps back
 */
export function createHeadJoin(
  { sql, patience }: Pick<RunParts, "sql" | "patience">,
  { resource, joinedRunId, own }: { resource: Resource; joinedRunId: number; own: Pick<IdSet, "has"> },
): HeadJoin {
  const inARow = createKnownInARow();
  return {
    async add(page) {
      const met = page.ids.filter((id) => !own.has(id));
      const isKnown = await patience("look up records", () =>
        areKnown(sql, resource, page, joinedRunId, met),
      );
      inARow.add(withoutAhead(page), isKnown);
    },
    isJoined: inARow.isEnough,
  };
}

/** Counts the known records in a row. One proves nothing: a build dated in the future stays at the top. */
export function createKnownInARow() {
  let inARow = new Set<string>();
  return {
    /** Adds the records of a page. `isKnown`: each one is live and from a run without a gap. A refused one is not. */
    add(ids: readonly string[], isKnown: boolean): void {
      if (!isKnown) inARow = new Set();
      else for (const id of ids) inARow.add(id);
    },
    isEnough: () => inARow.size >= JOIN_RECORDS,
  };
}

/** True for a page that counts, whose records are all live, and stored up to the run that joined or `met` before. */
async function areKnown(
  sql: Sql,
  resource: Resource,
  page: Page,
  joinedRunId: number,
  met: readonly string[],
): Promise<boolean> {
  if (!page.isAnchored || page.holes.length > 0 || page.meta.count !== page.ids.length) return false;
  const { table } = RECORD_TABLES[resource];
  const [row] = await composed(sql)<{ known: number }>`
    select count(*) as known from ${table}
    where ${table.id} = any (${compose.param(page.ids)}::text[]) and ${table.deleted_at} is null
      and (${table.first_seen_run_id} <= ${joinedRunId} or ${table.id} = any (${compose.param(met)}::text[]))`;
  return row?.known === new Set(page.ids).size;
}

/** The ids of a page without builds that are dated a day ahead: they stay on top, whatever comes. A day, for any zone. */
function withoutAhead(page: Page): string[] {
  const dates = shownDates(page);
  const latest = new Date(page.observedAt.getTime() + DAY_MS).toISOString();
  return page.ids.filter((_, at) => (dates?.[at] ?? "") < latest);
}
