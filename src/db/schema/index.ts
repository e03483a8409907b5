export * from "./builds.ts";
export * from "./changes.ts";
export * from "./files.ts";
export * from "./projects.ts";
export * from "./runs.ts";
export * from "./schemas.ts";
export * from "./users.ts";
export * from "./versions.ts";
