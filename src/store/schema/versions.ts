import { version } from "../../resources/version.ts";
import { bookkeeping } from "./columns.ts";
import { projects } from "./projects.ts";
import { columnsOf, indexesOf } from "./record-columns.ts";
import { mirror } from "./schemas.ts";

export const versions = mirror.table(
  "versions",
  { ...columnsOf(version, { project: projects }), ...bookkeeping() },
  (table) => indexesOf(version, table),
);
