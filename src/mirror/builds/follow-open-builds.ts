import { aboutList } from "../api/about-list.ts";
import { type Polled, type PollOptions, pollOpenBuilds } from "./poll-open-builds.ts";
import { type SweepOptions, sweepStuckBuilds } from "./sweep-stuck-builds.ts";

/** Polls due open builds that the run has not seen: many stuck ones by their list, others by their details. */
export async function followOpenBuilds(options: PollOptions & SweepOptions): Promise<Polled> {
  const told = { ...options, ...aboutList(options, "build") };
  if (!options.client.lost.aborted) await sweepStuckBuilds(told);
  return pollOpenBuilds(told);
}
