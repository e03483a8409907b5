/**
 * The sections of the list that an earlier walk read. When records came in front, they begin further down by as many. A
 * request that begins where a section does shows the same bytes, so its page need not be parsed (reliability.md says why a
 * walk may begin a request earlier than it must).
 *
 * The shift is known from a page that is known, or shows the first record of a section. Before one does, it is what
 * the count grew by. A record that went from within a section brings the ones behind it nearer, which its page shows.
 *
 * In front of the first old section the new ones have the same distances, counted from it, so that the part that is
 * read twice is at the head. The next walk leaves it out: where something is new, a section with a smaller distance to the next one
 * is not used, nor what is in front of it. Else each night would add one.
 */
import type { PageRequest } from "../../resources/page-request.ts";
import type { FetchedPage, RememberedPage } from "./page.ts";

export interface Section extends RememberedPage {
  at: PageRequest;
}

/** The pages that a walk may read beyond those that it must. */
const SPARE_PAGES = 2;
/** A smaller part of the usual distance is too small. The sections in front are looked at for it, so many of them. */
const LEAST_DISTANCE = 0.9;
const MOST_LEFT_OUT = 32;

interface WayOn {
  at: PageRequest;
  /** The offset of the next request as the course has it, and the distance to it. */
  next: number;
  step: number;
  /** The offsets that were asked for ahead. They are used up, whatever the page shows. */
  pending: readonly number[];
  count: number;
}

export interface Sections {
  /** The offset of the request behind a page, and of those that will probably follow it. */
  behind(page: FetchedPage, way: WayOn): number[];
}

/** @param earlier returns the sections around the place of the walk, in their order */
export function createSections(earlier: () => readonly Section[]): Sections {
  let shift: number | null = null;
  let spare = SPARE_PAGES;

  function learn({ known, ids, meta }: FetchedPage, { offset }: PageRequest, sections: readonly Section[]) {
    const same = known && sections.find(({ seq }) => seq === known.seq);
    if (same) {
      shift = offset - same.at.offset;
      return;
    }
    const places = new Map(ids.map((id, place) => [id, place]));
    const shown = sections.findLast((section) => places.has(section.ids[0] ?? ""));
    if (shown) shift = offset + (places.get(shown.ids[0] ?? "") ?? 0) - shown.at.offset;
    const counted = sections[0]?.meta.totalCount ?? null;
    if (shift === null && counted !== null && meta.totalCount !== null) shift = meta.totalCount - counted;
  }

  function startsBehind(page: FetchedPage, { at, next, step }: WayOn): number[] {
    const sections = earlier().filter((section) => section.at.limit === at.limit);
    learn(page, at, sections);
    if (shift === null) return [];
    const moved = shift;
    const starts = sections
      .map((section) => section.at.offset + moved)
      .filter((start) => start > next - step);
    if (page.known) return starts;
    const last = starts
      .slice(0, MOST_LEFT_OUT)
      .findLastIndex((start, place) => (starts[place + 1] ?? start + step) - start < LEAST_DISTANCE * step);
    return starts.slice(last + 1);
  }

  return {
    behind(page, way) {
      const { next, step, pending, count } = way;
      const { showsOrder, count: records } = page.meta;
      const isUsable = showsOrder && records === page.ids.length;
      const starts = isUsable ? startsBehind(page, way) : [];
      const offsets: number[] = [];
      for (let offset = next - step; offsets.length < count; offsets.push(offset)) {
        const [least, most] = [offset, offset + step];
        const due = pending.filter((one) => one > least && one <= most);
        offset = due.length > 0 ? Math.max(...due) : startWithin(starts, most, step);
        if (most - offset > spare * step) offset = most;
      }
      spare -= (next - (offsets[0] ?? next)) / step;
      return offsets;
    },
  };
}

/** The last start up to `most`, or a place in front of the next one in steps from it; `most` when none is left. */
function startWithin(starts: readonly number[], most: number, step: number): number {
  const next = starts.findIndex((start) => start > most);
  const before = starts[(next === -1 ? starts.length : next) - 1] ?? Number.NEGATIVE_INFINITY;
  if (before > most - step) return before;
  const start = starts[next];
  return start === undefined ? most : start - step * Math.ceil((start - most) / step);
}
