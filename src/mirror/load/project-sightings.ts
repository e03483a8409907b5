/**
 * Decides between copies of a project. Its list, its detail and every version and file show it, in replies that are
 * asked for at the same time and may come from a cache. The copy that was asked for last is right, whatever its
 * `modified_date` says, because the service's clock may be put back. An earlier run comes before a later one, because
 * our clock may be put back too. Only within one reply does the date decide (`prepare-batch.ts`).
 *
 * An embedded copy with the date of the project's own list or detail is the same project in another form: services
 * leave out fields there. So it replaces nothing, else such projects would change twice a night. It also says nothing
 * about the fields that it lacks: a list or detail of that date goes by others of its kind, however late the embedded
 * copy was asked for.
 */
import type { ProjectSource } from "../../store/schema/records.ts";
import type { NormalizedRecord } from "../normalize/record.ts";
import type { ObservedRecord, SortedRecords, StoredProject } from "./compare-records.ts";

/** Beyond these only the stored time of the last change of a project is known, which is nearly always right. */
const MAX_PROJECTS = 200_000;

interface Sighting {
  /** Null when a page showed it that was skipped unparsed. */
  hash: string | null;
  /** The same project as versions and files show it, where they show it in another form. */
  embeddedHash: string | null;
  askedAt: number;
  /** The same for its list and its detail alone; null before the first. */
  ownAskedAt: number | null;
  isEmbedded: boolean;
  /** An embedded copy took the place of what the list had shown. */
  hasReplaced: boolean;
}

/** A copy before it is normalized. */
export type SeenCopy = Pick<ObservedRecord, "askedAt"> & { id: string; hash: string };

/** The copies of projects that a run has seen. A sighting of a transaction counts for others when it is committed. */
export interface ProjectSightings {
  /** True where the newest copy that was loaded has this hash. */
  isCurrent(id: string, hash: string): boolean;
  /** True where a copy with another content replaces the stored one. */
  isLater(one: ObservedRecord, stored: StoredProject, source: ProjectSource): boolean;
  /** Notes a copy that is stored now, or that could not be stored. */
  note(copy: SeenCopy, source: ProjectSource): void;
  /** Notes the result of a load: copies that were stored, that equal the stored ones, or are these in another form. */
  noteLoaded(sorted: SortedRecords, stored: ReadonlyMap<string, StoredProject>, source: ProjectSource): void;
  /** For a page that was skipped unparsed. Returns the projects that now hold an embedded copy that was asked for earlier. */
  noteSkipped(ids: readonly string[], askedAt: Date): string[];
  commit(): void;
  /** Forgets what was noted since the last commit. */
  rollback(): void;
}

export interface RunStart {
  runId: number;
  /** A reply that was asked for earlier comes from a cache. @default none does */
  startedAt?: Date | undefined;
}

export function createProjectSightings({ runId, startedAt = new Date(0) }: RunStart): ProjectSightings {
  const committed = new Map<string, Sighting>();
  const pending = new Map<string, Sighting>();
  const find = (id: string) => pending.get(id) ?? committed.get(id);
  const isAfter = (one: Pick<Sighting, "askedAt" | "isEmbedded">, other: Sighting) =>
    one.askedAt > other.askedAt || (one.askedAt === other.askedAt && (other.isEmbedded || !one.isEmbedded));

  /** Notes an embedded copy that is the stored project in another form. */
  function noteForm({ id, hash, askedAt }: SeenCopy): void {
    const none = { hash: null, askedAt: 0, ownAskedAt: null, isEmbedded: false, hasReplaced: false };
    const seen = find(id) ?? none;
    pending.set(id, { ...seen, embeddedHash: hash, askedAt: Math.max(seen.askedAt, Date.parse(askedAt)) });
  }

  function note({ id, hash, askedAt }: SeenCopy, source: ProjectSource, hasReplaced = false): void {
    const isEmbedded = source === "embedded";
    const seen = find(id);
    const at = Date.parse(askedAt);
    if (isEmbedded && seen?.embeddedHash === hash) {
      pending.set(id, { ...seen, askedAt: Math.max(seen.askedAt, at) });
      return;
    }
    const same = seen?.hash === hash ? seen : undefined;
    const sighting = {
      hash,
      embeddedHash: same?.embeddedHash ?? null,
      askedAt: at,
      ownAskedAt: isEmbedded ? (seen?.ownAskedAt ?? null) : Math.max(at, seen?.ownAskedAt ?? at),
      isEmbedded,
      hasReplaced: isEmbedded && (hasReplaced || same?.hasReplaced === true),
    };
    if (!seen || isAfter(sighting, seen)) pending.set(id, sighting);
    else pending.set(id, { ...seen, ownAskedAt: sighting.ownAskedAt });
  }

  return {
    isCurrent(id, hash) {
      const seen = find(id);
      return seen !== undefined && (seen.hash === hash || seen.embeddedHash === hash);
    },
    isLater({ record, ...copy }, stored, source) {
      if (isOtherForm(record, source, stored)) return source !== "embedded";
      const askedAt = Date.parse(copy.askedAt);
      const seen = find(record.id);
      const isOwn = source !== "embedded" && hasDateOf(record, stored);
      if (isOwn && seen && seen.ownAskedAt !== null) return askedAt >= seen.ownAskedAt;
      if (!isOwn && seen) return isAfter({ askedAt, isEmbedded: source === "embedded" }, seen);
      const observedAt = Date.parse(copy.observedAt);
      if (stored.changedRunId === runId) return observedAt >= stored.changedAt;
      // A cache may have got this copy before the stored one was seen, unless our clock was put back since.
      const isFresh = askedAt >= startedAt.getTime();
      return isFresh || askedAt >= stored.changedAt || observedAt < stored.changedAt;
    },
    note,
    noteLoaded({ added, changed, unchanged }, stored, source) {
      const copyOf = ({ record, askedAt }: ObservedRecord) => ({ ...record, askedAt });
      for (const one of added) note(copyOf(one), source);
      for (const one of unchanged) {
        const known = stored.get(one.record.id);
        if (known?.hash === one.record.hash) note(copyOf(one), source);
        else if (known && source === "embedded" && isOtherForm(one.record, source, known))
          noteForm(copyOf(one));
      }
      for (const one of changed) note(copyOf(one), source, true);
    },
    noteSkipped(ids, askedAt) {
      const page = { askedAt: askedAt.getTime(), isEmbedded: false };
      const replaced: string[] = [];
      for (const id of ids) {
        const seen = committed.get(id);
        if (seen && !isAfter(page, seen)) continue;
        if (seen?.hasReplaced) replaced.push(id);
        else {
          const hashes = { hash: seen?.hash ?? null, embeddedHash: seen?.embeddedHash ?? null };
          committed.set(id, { ...page, ...hashes, ownAskedAt: page.askedAt, hasReplaced: false });
        }
      }
      return replaced;
    },
    commit() {
      for (const [id, sighting] of pending) {
        committed.delete(id);
        committed.set(id, sighting);
      }
      pending.clear();
      for (const id of committed.keys()) {
        if (committed.size <= MAX_PROJECTS) break;
        committed.delete(id);
      }
    },
    rollback: () => pending.clear(),
  };
}

/** True where two copies of one date differ only because one of them is embedded. */
function isOtherForm(record: NormalizedRecord, source: ProjectSource, stored: StoredProject): boolean {
  return (source === "embedded") !== (stored.source === "embedded") && hasDateOf(record, stored);
}

function hasDateOf({ columns }: NormalizedRecord, { modifiedDate }: StoredProject): boolean {
  const date = columns.modified_date;
  if (typeof date !== "string") return modifiedDate === null || modifiedDate === "";
  return (date.includes(".") ? date : `${date}.000000`) === modifiedDate;
}
