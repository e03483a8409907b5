import { user } from "../../resources/user.ts";
import { bookkeeping } from "./columns.ts";
import { columnsOf, indexesOf } from "./record-columns.ts";
import { mirror } from "./schemas.ts";

export const users = mirror.table("users", { ...columnsOf(user, {}), ...bookkeeping() }, (table) =>
  indexesOf(user, table),
);
