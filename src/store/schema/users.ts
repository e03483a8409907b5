import { text } from "drizzle-orm/pg-core";
import { bookkeeping, idText, listIndex, localTimestamp } from "./columns.ts";
import { mirror } from "./schemas.ts";

export const users = mirror.table(
  "users",
  {
    id: idText().primaryKey(),
    resource_uri: text(),
    username: text(),
    first_name: text(),
    last_name: text(),
    last_login: localTimestamp(),
    ...bookkeeping(),
  },
  (table) => [listIndex("users_list", table)],
);
