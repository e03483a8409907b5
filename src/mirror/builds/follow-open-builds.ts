import { aboutList } from "../api/about-list.ts";
import type { RunParts } from "../load/run-parts.ts";
import { type Polled, type PollOptions, pollOpenBuilds } from "./poll-open-builds.ts";
import { type SweepOptions, sweepStuckBuilds } from "./sweep-stuck-builds.ts";

/** Polls due open builds that the run has not seen: many stuck ones by their list, others by their details. */
export async function followOpenBuilds(run: RunParts, options: PollOptions & SweepOptions): Promise<Polled> {
  const parts = aboutList(run, "build");
  if (!run.client.lost.aborted) await sweepStuckBuilds(parts, options);
  return pollOpenBuilds(parts, options);
}
