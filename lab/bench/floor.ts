/** What no mirror can be faster than: the same pages downloaded, or downloaded and parsed, with every address known beforehand. */
import { Agent, request } from "undici";

const [what, base, concurrency] = process.argv.slice(2);
const agent = new Agent({ connections: Number(concurrency) });
const urls: string[] = [];
for (const resource of ["user", "project", "version", "file", "build"]) {
  const first = `${base}/api/v1/${resource}/?format=json&limit=100`;
  const reply = await request(first, { dispatcher: agent });
  const { meta } = (await reply.body.json()) as { meta: { total_count: number } };
  for (let offset = 0; offset < meta.total_count; offset += 100) {
    urls.push(offset === 0 ? first : `${first}&offset=${offset}`);
  }
}

const startedAt = performance.now();
let bytes = 0;
let next = 0;
async function fetchPages(): Promise<void> {
  for (let url = urls[next++]; url !== undefined; url = urls[next++]) {
    const reply = await request(url, { dispatcher: agent });
    const body = Buffer.from(await reply.body.arrayBuffer());
    bytes += body.length;
    if (what === "parse") JSON.parse(body.toString("utf8"));
  }
}
await Promise.all(Array.from({ length: Number(concurrency) }, fetchPages));
process.stdout.write(JSON.stringify({ ms: performance.now() - startedAt, pages: urls.length, bytes }));
await agent.destroy();
