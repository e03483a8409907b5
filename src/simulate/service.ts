import type { World } from "./world.ts";

export interface SimulationOptions {
  world: World;
  /** @default "127.0.0.1" */
  host?: string;
  /** 0 takes a free one. @default 0 */
  port?: number;
  /** The wait before each reply. @default 0 */
  latencyMs?: number;
  /** Stands before every request: answer it, or let the service do so by `next()` (the reply may be changed). */
  intercept?: (request: Request, next: () => Promise<Response>) => Response | Promise<Response>;
  /** Virtual milliseconds per real one; the world's clock stands still without it. @default 0 */
  speed?: number;
  /** How many bytes of ready replies are kept; 0 renders every reply anew. @default 64 MiB */
  cacheBytes?: number;
  /** Whether other characters than ASCII leave as \u escapes; the recorded service sent them raw. @default false */
  ascii?: boolean;
}

export interface RequestCounters {
  total: number;
  /** By path without its query, e.g. `/api/v1/build/`. */
  byPath: ReadonlyMap<string, number>;
  byStatus: ReadonlyMap<number, number>;
  bytes: number;
  /** The greatest number of requests under way at once. */
  peakInFlight: number;
  /** When each request came in, on `performance.now()`'s scale of the service's process; milliseconds, ascending. */
  arrivalsMs: readonly number[];
}

export interface Simulation {
  /** With the world's base path, without a closing slash: what `DOCMIRROR_BASE_URL` takes. */
  readonly url: string;
  /** What came in since the start or the last `resetRequests()`. */
  requests(): RequestCounters;
  resetRequests(): void;
  /** Stops listening and drops open connections; safe to call twice. */
  close(): Promise<void>;
}

export async function startSimulation(_options: SimulationOptions): Promise<Simulation> {
  throw new Error("not built yet");
}
