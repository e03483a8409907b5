import { aboutList } from "../api/about-list.ts";
import { type Polled, type PollOptions, pollOpenBuilds } from "./poll-open-builds.ts";
import { type SweepOptions, sweepStuckBuilds } from "./sweep-stuck-builds.ts";

/**
 * Polls the open builds that are due: many stuck ones by their list, all others by their details. Builds that
 * the run has seen already are skipped.
 */
export async function followOpenBuilds(options: PollOptions & SweepOptions): Promise<Polled> {
  const told = { ...options, ...aboutList(options, "build") };
  if (!options.client.lost.aborted) await sweepStuckBuilds(told);
  return pollOpenBuilds(told);
}
