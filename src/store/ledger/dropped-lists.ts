/**
 * Lists that the service dropped, or that DOCMIRROR_LEAVE_OUT names. `sync.drift` keeps when a resource left the root listing
 * (`absent`), when that became a fact (`dropped`), and when it returned. A fact costs no run its success, and the list is
 * as fresh as the run that found it so. Its rows are kept.
 */
import { RESOURCES, type Resource } from "../../resources/resources.ts";
import { type AnySql, statement } from "../connection/sql.ts";

const DROPPED_LISTS = statement<DroppedList>("dropped_lists", import.meta.url);

export interface DroppedList {
  resource: Resource;
  since: string;
  why: "absent" | "dropped" | "left out";
}

/** The lists that are absent, in the order of `RESOURCES`. */
export async function findDropped(sql: AnySql): Promise<DroppedList[]> {
  return DROPPED_LISTS(sql, { resources: [...RESOURCES] });
}

/** For people, such as "the service has no build since 2026-11-03: its rows are kept". */
export function describeDropped({ resource, since, why }: DroppedList): string {
  const day = new Date(since).toISOString().slice(0, 10);
  if (why === "left out")
    return `DOCMIRROR_LEAVE_OUT leaves out each ${resource} since ${day}: its rows are kept`;
  return `the root listing has no ${resource} since ${day}${why === "dropped" ? ": its rows are kept" : ""}`;
}
