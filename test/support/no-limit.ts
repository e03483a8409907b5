import type { LimitSettings } from "../../src/report/status/sizes.ts";

/** Settings of a server of one's own, whose limit nobody knows. */
export const NO_LIMIT: LimitSettings = {
  databaseUrl: "postgres://nobody@127.0.0.1/nothing",
  dataDir: "/nowhere",
  databaseLimitBytes: null,
};
