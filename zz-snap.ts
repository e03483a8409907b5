import { mkdirSync, writeFileSync, rmSync } from "node:fs";
const root = process.argv[2]!; const out = process.argv[3]!;
const NOW = new Date(process.argv[4]!);
const imp = (p: string) => import(`${root}/src/${p}`);
const { connect } = await imp("store/connection/connect.ts");
const { createPages } = await imp("page/pages.ts");
const { silentLog } = await imp("base/log.ts");
const { systemClock } = await imp("base/clock.ts");
const { withSnapshot } = await imp("report/read-answer.ts");
const { writeSite } = await imp("page/write-site.ts");
const { findStatus, describeJob } = await imp("report/status/find-status.ts");
const { findFigures, FIGURE_METRICS } = await imp("report/status/figures.ts");
const { createFigureRegistry } = await imp("report/status/read-figures.ts");
const { DICTIONARY } = await imp("report/dictionary.ts");
const { PEOPLE } = await imp("report/relations/people.ts");
const { ANSWERS, EXPENSIVE_ANSWERS, BUILD_FACTS, STORED_DIMENSIONS, DATES } = await imp("report/stored/answers.ts");
rmSync(out, { recursive: true, force: true }); mkdirSync(out, { recursive: true });
const plain = ({ drizzle, ...a }: any) => a;
writeFileSync(`${out}/dictionary.json`, JSON.stringify({ DICTIONARY, PEOPLE, FIGURE_METRICS }, (k, v) => (k === "drizzle" ? undefined : v), 1));
writeFileSync(`${out}/answers.json`, JSON.stringify([ANSWERS, EXPENSIVE_ANSWERS, BUILD_FACTS, STORED_DIMENSIONS, DATES], (k, v) => (k === "drizzle" ? undefined : typeof v === "function" ? v("x") : v), 1));
const day = (n: number) => new Date(NOW.getTime() - n * 86400000).toISOString().slice(0, 10);
const FIXED = ["/", "/?show=main", "/?show=never", "/?show=worked&why=timeout", "/?why=nothing", "/?page=2", "/?page=99", "/?maintainer=ada.person", "/?maintainer=nobody", `/?day=${day(1)}`, `/?day=${day(3)}`, `/?day=${day(400)}`, "/?refresh=60", "/?day=2099-01-01",
 "/trends", "/trends?since=7d", "/trends?since=30d", "/trends?since=1d", "/trends?since=200d", "/trends?type=html", "/trends?type=pdf&since=7d", "/trends?type=htm", "/trends?since=90d&type=html", `/trends?since=${day(2)}&until=${day(0)}`, "/trends?until=2001-01-01", "/trends?since=x",
 "/projects", "/projects?sort=name", "/projects?sort=state", "/projects?sort=rate&page=2", "/projects?state=main", "/projects?state=part", "/projects?state=stuck", "/projects?state=unknown", "/projects?state=mian", "/projects?q=a", "/projects?q=zzzz", "/projects?q=pip&state=good", "/projects?q=ada.person", "/projects?maintainer=ada.person", "/projects?page=99", "/projects?q=1001", "/projects?q=%231001",
 "/errors", "/errors?sort=projects", "/errors?sort=newest&page=2", "/errors?kind=timeout", "/errors?kind=tmeout", "/errors?since=200d", "/errors?since=7d&kind=unclassified", "/errors?until=2001-01-01", "/errors?page=99", "/errors?line=abc", "/errors?print=abc",
 "/mirror", "/dictionary", "/project/pip", "/project/pip?versions=all", "/project/pip?version=latest&type=html", "/project/pip?version=lates", "/project/pip?page=2", "/project/pip?page=9", "/project/nope", "/project?slug=..", "/project?slug=", "/project/(unknown)", "/build/1001", "/build/nope", "/build/2000", "/build/1001/log.txt", "/find?q=pip", "/nowhere", "/feed.atom", `/feed.atom?day=${day(2)}`, "/project/pip/feed.atom", "/files/now/nope.csv", "/files/now/failing.csv?x=1", "/report/nope.csv"];
for (const world of ["snap_none", "snap_seed", "snap_quiet", "snap_demo"]) {
  const sql = connect(`postgres://docmirror:secret@127.0.0.1:6471/${world}`, { applicationName: "snap", max: 4 });
  const mirror = { read: (fn: any) => fn(sql), snapshot: (fn: any, signal: any) => withSnapshot(sql, fn, signal) };
  for (const [moment, now] of [["now", NOW], ["later", new Date(NOW.getTime() + 60 * 3600000)]] as const) {
    const clock = { ...systemClock, now: () => now };
    const app = createPages({ mirror, sourceTimezone: "Etc/UTC", staleAfterMs: 108_000_000, clock, log: silentLog });
    const todo = [...FIXED]; const seen = new Set<string>(); const dir = `${out}/${world}-${moment}`; mkdirSync(dir, { recursive: true });
    let extra = moment === "now" ? 260 : 60;
    const counts = new Map<string, number>();
    while (todo.length > 0) {
      const url = todo.shift()!; if (seen.has(url)) continue; seen.add(url);
      const reply = await app.request(url);
      const text = await reply.text();
      writeFileSync(`${dir}/${encodeURIComponent(url).slice(0, 180)}`, `${reply.status} ${JSON.stringify([...reply.headers].filter(([n]) => n !== "etag"))}\n${text}`);
      if (reply.headers.get("content-type")?.startsWith("text/html")) for (const [, href = ""] of text.matchAll(/ href="(\/[^"#]*)/g)) {
        const at = href.replaceAll("&amp;", "&"); if (at.startsWith("/assets") || at.startsWith("/api") || seen.has(at)) continue;
        const kind = at.split(/[?]/)[0]!.split("/").slice(0, 3).join("/").replace(/^(\/(?:project|build)\/).*/, "$1"); const n = counts.get(kind) ?? 0;
        const most = kind === "/build/" ? 50 : kind === "/project/" ? 30 : 8;
        if (n >= most || extra-- <= 0) continue; counts.set(kind, n + 1); todo.push(at);
      }
    }
    if (moment === "now") {
      const settings = { staleAfterMs: 108_000_000, stuckAfterMs: 7_200_000, sourceTimezone: "Etc/UTC", databaseUrl: "x", dataDir: "/tmp", databaseLimitBytes: 1e9 };
      const status = await findStatus(sql, settings, now);
      writeFileSync(`${dir}/status.json`, JSON.stringify(status, null, 1));
      const figures = await withSnapshot(sql, (tx: any) => findFigures(tx, { ...settings, isWorker: true }));
      writeFileSync(`${dir}/figures.json`, JSON.stringify(figures, null, 1));
      writeFileSync(`${dir}/metrics.txt`, await createFigureRegistry(true, figures).metrics());
      if (world !== "snap_none") await withSnapshot(sql, (tx: any) => writeSite(tx, `${out}/${world}-site`, { sourceTimezone: "Etc/UTC", staleAfterMs: 108_000_000, clock, log: silentLog }, { withPeople: true, signal: new AbortController().signal }));
    }
    console.log(world, moment, seen.size);
  }
  await sql.end();
}
process.exit(0);
