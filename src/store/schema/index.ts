export * from "./columns.ts";
export * from "./file-contents.ts";
export * from "./history.ts";
export * from "./leader.ts";
export * from "./records.ts";
export * from "./report.ts";
export * from "./rollup.ts";
export * from "./runs.ts";
