import { type Polled, type PollOptions, pollOpenBuilds } from "./poll-open-builds.ts";
import { type SweepOptions, sweepStuckBuilds } from "./sweep-stuck-builds.ts";

/**
 * Looks at the open builds that are due: stuck ones by their list where they are many, all others by their details. What the run has seen
 * already is left alone.
 */
export async function followOpenBuilds(options: PollOptions & SweepOptions): Promise<Polled> {
  const lostBy = await sweepStuckBuilds(options);
  return lostBy ? { asked: 0, gone: 0, lostBy } : pollOpenBuilds(options);
}
