import type { GateBounds } from "./gate.ts";

/** Pages that are read from the mirror at once. Each takes a connection for as long as its questions take. */
export const PAGES_AT_ONCE: GateBounds = { atOnce: 3, waiting: 60, patienceMs: 10_000 };

/** Replies that are streamed at once. Each holds a connection until its reader has taken everything. */
export const STREAMS_AT_ONCE: GateBounds = { atOnce: 3, waiting: 20, patienceMs: 5000 };
