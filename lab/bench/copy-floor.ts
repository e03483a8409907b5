/** COPY (binary) of a mirror's own rows into empty tables of the same shape, with their keys: the least that Postgres must do. */

import { connect } from "../../src/store/connection/connect.ts";

const [sourceUrl = "", targetUrl = ""] = process.argv.slice(2);
const TABLES = [
  "users",
  "projects",
  "project_users",
  "versions",
  "files",
  "builds",
  "build_logs",
  "build_transitions",
  "unresolved_references",
];
const target = connect(targetUrl, { applicationName: "bench", max: 1 });
const data = new Map<string, Buffer>();
for (const table of TABLES) {
  const chunks: Buffer[] = [];
  // A connection each: postgres.js may leave its socket paused behind a COPY TO.
  const source = connect(sourceUrl, { applicationName: "bench", max: 1 });
  const stream = await source.unsafe(`copy mirror.${table} to stdout with (format binary)`).readable();
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  data.set(table, Buffer.concat(chunks));
  await source.end({ timeout: 0 });
}
await target`select 1`;
const startedAt = performance.now();
for (const [table, rows] of data) {
  const stream = await target.unsafe(`copy mirror.${table} from stdin with (format binary)`).writable();
  stream.destroy = () => stream;
  for (const chunk of chunksOf(rows))
    await new Promise<void>((resolve) => stream.write(chunk, () => resolve()));
  stream.end();
  await target`select 1`;
}
const ms = performance.now() - startedAt;
const bytes = [...data.values()].reduce((sum, rows) => sum + rows.length, 0);
process.stdout.write(JSON.stringify({ ms, bytes }));
await target.end();

function* chunksOf(buffer: Buffer): Generator<Buffer> {
  for (let at = 0; at < buffer.length; at += 256 * 1024) yield buffer.subarray(at, at + 256 * 1024);
}
