/**
 * From triggered to finished: which open builds are asked for, and how their times are told. A round of the watch finds
 * the builds that are due, asks for each detail, and sweeps the stuck ones by a filter of the list. `explain-build.ts`
 * tells a person why.
 */
import { aboutList } from "../api/client.ts";
import type { RunParts } from "../load/run-parts.ts";
import { type Polled, type PollOptions, pollOpenBuilds } from "./poll-open-builds.ts";
import { type SweepOptions, sweepStuckBuilds } from "./sweep-stuck-builds.ts";

/** Polls due open builds that the run has not seen: many stuck ones by their list, others by their details. */
export async function followOpenBuilds(run: RunParts, options: PollOptions & SweepOptions): Promise<Polled> {
  const parts = aboutList(run, "build");
  if (!run.client.lost.aborted) await sweepStuckBuilds(parts, options);
  return pollOpenBuilds(parts, options);
}
