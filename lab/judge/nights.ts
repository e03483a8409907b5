/** Whether each night had one good sync, and no two runs wrote at the same time. */
import { withSql } from "../../src/store/connection/connect.ts";
import { DAY_MS } from "../nights/timeline.ts";

interface Run {
  id: number;
  kind: string;
  status: string;
  startMs: number;
  endMs: number;
  pid: number;
  /** Rounds of the watch that saw nothing are one row. */
  rounds: number;
}

export interface NightsVerdict {
  nights: number;
  /** Nights whose sync came more than an hour late, by the number of their day. */
  late: number[];
  runs: Record<string, number>;
  faults: string[];
}

/** `dueAt` are the moments at which a sync was due. At the nights in `lost` none could succeed, but one must have been tried. */
export async function judgeNights(
  databaseUrl: string,
  dueAt: readonly number[],
  lost: readonly number[],
): Promise<NightsVerdict> {
  const runs = await withSql(
    databaseUrl,
    { applicationName: "docmirror test", max: 1 },
    (sql) => sql<Run[]>`
      select id, kind, status, pid, coalesce(rounds, 1) as rounds, extract(epoch from started_at) * 1000 as "startMs",
        coalesce(extract(epoch from finished_at), extract(epoch from started_at)) * 1000 as "endMs"
      from sync.runs order by id`,
  );
  const counted: Record<string, number> = {};
  for (const { kind, status, rounds } of runs)
    counted[`${kind} ${status}`] = (counted[`${kind} ${status}`] ?? 0) + rounds;
  const faults: string[] = [];
  const late: number[] = [];
  const nights = runs.filter(({ kind }) => kind === "full" || kind === "incremental");
  for (const [night, due] of dueAt.entries()) {
    // A tick may come a minute early by the clock of a process that rounds.
    const until = (dueAt[night + 1] ?? due + DAY_MS) - 60_000;
    const own = nights.filter(({ startMs }) => startMs >= due - 60_000 && startMs < until);
    const good = own.filter(({ status }) => status === "succeeded" || status === "partial");
    if (own.length === 0 || (good.length === 0 && !lost.includes(night)))
      faults.push(`night ${night} was missed`);
    if (good.length > 1)
      faults.push(`night ${night} was synced by runs ${good.map(({ id }) => id).join(", ")}`);
    if (good[0] && good[0].startMs - due > 3_600_000) late.push(night);
  }
  for (const [place, run] of runs.entries()) {
    const next = runs[place + 1];
    if (next && next.startMs < run.endMs - 1 && next.pid !== run.pid && run.status !== "interrupted")
      faults.push(`run ${next.id} began before run ${run.id} of another process had ended`);
  }
  return { nights: dueAt.length, late, runs: counted, faults };
}
