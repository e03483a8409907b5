const MAX_COPIES = 20_000;

/**
 * The newest copy of each project that was brought to its table lately, by hash. Embedded projects stand in every record of a list; a
 * copy that is the newest one already changes nothing and need be neither normalized nor looked up. The oldest are
 * forgotten, so that memory does not grow with the projects.
 */
export interface RecentCopies {
  isNewest(id: string, hash: string): boolean;
  /** To be called after the commit. */
  add(id: string, hash: string): void;
}

export function createRecentCopies(): RecentCopies {
  const newest = new Map<string, string>();
  return {
    isNewest: (id, hash) => newest.get(id) === hash,
    add(id, hash) {
      newest.delete(id);
      newest.set(id, hash);
      const [oldest] = newest.keys();
      if (newest.size > MAX_COPIES && oldest !== undefined) newest.delete(oldest);
    },
  };
}
