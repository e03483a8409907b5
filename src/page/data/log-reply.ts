import type { MirrorReader } from "../../store/connection/sql.ts";

const PARTS = ["setup", "setup_error", "output", "error"] as const;
/** Characters read at once: a log may have many megabytes. */
const CHUNK = 1_000_000;

/** The log of a build as plain text, each part below its name; null where the mirror has none. */
export async function readLog(mirror: MirrorReader, id: string): Promise<Response | null> {
  const [row] = await mirror.read(
    (sql) => sql<Record<(typeof PARTS)[number], boolean>[]>`
      select setup <> '' as setup, setup_error <> '' as setup_error, output <> '' as output, error <> '' as error
      from mirror.build_logs where build_id = ${id}`,
  );
  const parts = PARTS.filter((part) => row?.[part] === true);
  if (parts.length === 0) return null;
  const body = ReadableStream.from(streamLog(mirror, id, parts));
  return new Response(body.pipeThrough(new TextEncoderStream()), {
    headers: {
      "content-type": "text/plain; charset=utf-8",
      "cache-control": "no-cache",
      // Compressed as it is sent, as the files are.
      "content-disposition": `inline; filename="build-${id.replaceAll(/\W/g, "_")}.txt"`,
    },
  });
}

async function* streamLog(mirror: MirrorReader, id: string, parts: readonly string[]) {
  for (const part of parts) {
    yield `== ${part} ==\n`;
    for (let from = 1; ; from += CHUNK) {
      const [row] = await mirror.read(
        (sql) => sql<{ text: string | null }[]>`
          select substr(${sql(part)}, ${from}::int, ${CHUNK}::int) as text from mirror.build_logs where build_id = ${id}`,
      );
      const text = row?.text ?? "";
      yield text;
      // Characters beyond the first plane count twice here.
      if (text.length < CHUNK) break;
    }
    yield "\n";
  }
}
