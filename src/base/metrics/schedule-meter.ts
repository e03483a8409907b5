import { Gauge, type Registry } from "prom-client";
import type { CommandLabel } from "./labels.ts";

/** When each schedule is due next. */
export interface ScheduleMeter {
  /** `next` is asked at each scrape; null when the line is never due again. */
  watch(command: CommandLabel, next: () => Date | null): void;
}

export function createScheduleMeter(registry: Registry): ScheduleMeter {
  const schedules = new Map<CommandLabel, () => Date | null>();
  new Gauge({
    name: "docmirror_next_run_timestamp_seconds",
    help: "When the schedule of this process is due next, in seconds since 1970.",
    labelNames: ["command"],
    registers: [registry],
    collect() {
      this.reset();
      for (const [command, next] of schedules) {
        const at = next();
        if (at !== null) this.set({ command }, at.getTime() / 1000);
      }
    },
  });
  return { watch: (command, next) => void schedules.set(command, next) };
}
