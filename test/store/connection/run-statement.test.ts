import { eq, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { describe, expect, it } from "vitest";
import { compose, nameOf, writeStatement } from "../../../src/store/connection/sql.ts";
import { builds } from "../../../src/store/schema/index.ts";

describe("a composed statement", () => {
  it("takes its names from the tables, and its values as parameters", () => {
    const statement = sql`select ${builds.id} from ${builds} where ${eq(builds.state, "finished")} limit ${3}`;
    expect(writeStatement(statement)).toEqual({
      text: "select mirror.builds.id from mirror.builds where mirror.builds.state = $1 limit $2",
      params: ["finished", 3],
    });
  });

  it("takes an array as one value by param, and columns without their table by nameOf", () => {
    const ids = compose.param(["1", "2"]);
    expect(writeStatement(compose`set ${nameOf(builds.state)} = null where id = any (${ids})`)).toEqual({
      text: "set state = null where id = any ($1)",
      params: [["1", "2"]],
    });
  });

  it("names the columns of an alias by it", () => {
    const r = alias(builds, "r");
    const statement = sql`select from ${builds} as ${r} where ${r.success} = ${true}`;
    expect(writeStatement(statement).text).toBe("select from mirror.builds as r where r.success = $1");
  });

  it("quotes a name that is no plain word, or a reserved one", () => {
    const statement = sql`select ${sql.identifier('a "b')}, ${sql.identifier("user")}`;
    expect(writeStatement(statement).text).toBe('select "a ""b", "user"');
  });
});
