import { hash } from "node:crypto";
import type { Declaration } from "../../resources/declare.ts";

/** Raise this when the normalizer reads a value in another way. A new field needs no other number: see `readingOf`. */
const NORMALIZER_VERSION = 3;

/**
 * The declarations that mirrors hold as version 3 alone: user, project, version, file and build, then a version and a file
 * with the project inside. Any other declaration or version has a number that is not here.
 */
const DECLARED_IN_VERSION_3: ReadonlySet<number> = new Set([
  ...[142199409, 1018160368, 942157695, 1258716289, 1738105438],
  ...[237194115, 1648298037],
]);

/**
 * A number for the way in which records become rows: by the version, by their declared fields, and by those of the
 * records within them (`inside`). The hashes of records and the remembered pages include it. After an upgrade that
 * changes it, the next full walk reads all of them again, once.
 */
export function readingOf(declaration: Declaration, inside?: Declaration): number {
  const fields = [declaration, ...(inside ? [inside] : [])].map((one) =>
    Object.entries(one.fields).map(([name, { kind, to, long }]) => [name, kind, to?.name, long]),
  );
  const text = JSON.stringify([NORMALIZER_VERSION, fields]);
  // An integer of Postgres has 31 bits and a sign.
  const number = Number.parseInt(hash("sha256", text, "hex").slice(0, 8), 16) >>> 1;
  return DECLARED_IN_VERSION_3.has(number) ? NORMALIZER_VERSION : number;
}
