/** The types of notices that a webhook may get, as receivers see them (`docs/notices.md`). `test` is sent by hand alone. */
export const NOTICE_TYPES = [
  "run.ended",
  "list.stale",
  "schema.changed",
  "project.broke",
  "project.recovered",
  "builds.quiet",
  "builds.resumed",
  "platform.trouble",
] as const;

export type NoticeType = (typeof NOTICE_TYPES)[number] | "test";
