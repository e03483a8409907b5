import type { Resource } from "../../resources/resources.ts";
import type { Sql } from "../../store/connection/sql.ts";
import type { Section } from "../walk/sections.ts";
import { readRemembered } from "./page-memory.ts";

/** The pages that are read with one query, and held before and behind the newest one that came again. */
const WINDOW = 32;
/** A walk that went on further than this without one of them goes on without what it left behind. */
const MOST_HELD = 4 * WINDOW;

export type EarlierPages = ReturnType<typeof createEarlierPages>;

/**
 * The pages of the walk before, around the place that this walk has reached. This walk stores its own pages in their
 * places, so each is read before that. @param from the place of this walk's first page
 */
export function createEarlierPages(sql: Sql, resource: Resource, from: number) {
  let held: Section[] = [];
  let next: number | null = from;
  /** The place of the newest page that was asked for, and of the furthest one that came again. */
  let asked = from;
  let met = from;
  let reading = Promise.resolve();

  async function readOn(): Promise<void> {
    while (next !== null && next <= Math.max(asked, met) + WINDOW) {
      const pages = await readRemembered(sql, resource, next, WINDOW);
      held.push(...pages);
      next = pages.length < WINDOW ? null : (pages.at(-1)?.seq ?? 0) + 1;
    }
    held = held.filter(({ seq }) => seq >= met - WINDOW).slice(-MOST_HELD);
  }

  return {
    /** Finds a page with this `bodyHash`. */
    async recall(bodyHash: string): Promise<Section | null> {
      asked += 1;
      reading = reading.catch(() => {}).then(readOn);
      await reading;
      // A page without ids would look empty, so it is parsed again.
      const page = held.find((one) => one.bodyHash === bodyHash && one.ids.length > 0) ?? null;
      if (page) met = Math.max(met, page.seq);
      return page;
    },
    /** Those that are held, in their order. */
    sections: (): readonly Section[] => held,
  };
}
