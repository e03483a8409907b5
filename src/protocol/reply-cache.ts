/** Ready replies, each good for one revision of its list. */
export interface ReplyCache {
  find(key: string, revision: string): Buffer | undefined;
  keep(key: string, revision: string, reply: Buffer): void;
}

/** Holds at most `maxBytes` of replies; the one that was used least lately goes first. 0 keeps nothing. */
export function createReplyCache(maxBytes: number): ReplyCache {
  const kept = new Map<string, { revision: string; reply: Buffer }>();
  let bytes = 0;

  function drop(key: string): void {
    const entry = kept.get(key);
    if (!entry) return;
    kept.delete(key);
    bytes -= entry.reply.length;
  }

  return {
    find(key, revision) {
      const entry = kept.get(key);
      if (!entry) return undefined;
      if (entry.revision !== revision) {
        drop(key);
        return undefined;
      }
      // A Map iterates in the order of insertion: putting an entry back makes it the newest.
      kept.delete(key);
      kept.set(key, entry);
      return entry.reply;
    },
    keep(key, revision, reply) {
      drop(key);
      if (reply.length > maxBytes) return;
      kept.set(key, { revision, reply });
      bytes += reply.length;
      for (const oldest of kept.keys()) {
        if (bytes <= maxBytes) break;
        drop(oldest);
      }
    },
  };
}
