import { type Polled, type PollOptions, pollOpenBuilds } from "./poll-open-builds.ts";
import { type SweepOptions, sweepStuckBuilds } from "./sweep-stuck-builds.ts";

/**
 * Polls the open builds that are due: stuck ones by their list where they are many, all others by their details. What the run has seen
 * already is left alone.
 */
export async function followOpenBuilds(options: PollOptions & SweepOptions): Promise<Polled> {
  if (!options.client.lost.aborted) await sweepStuckBuilds(options);
  return pollOpenBuilds(options);
}
