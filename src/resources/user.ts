import { datetime, declare, type RecordFrom, text } from "./declare.ts";

export const user = declare({
  name: "user",
  foundBy: "username",
  summary: ["id", "username", "first_name", "last_name", "last_login"],
  fields: {
    resource_uri: text({ readonly: true }),
    username: text({ unique: true, filter: "exact" }),
    first_name: text({ blank: true }),
    last_name: text({ blank: true }),
    last_login: datetime({ nullable: true }),
  },
});

export type UserRecord = RecordFrom<typeof user>;
