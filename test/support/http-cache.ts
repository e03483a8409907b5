import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "./free-port.ts";

/** A sample of `deploy`, in front of a server of ours. */
export interface HttpCache extends AsyncDisposable {
  readonly url: string;
}

const read = (path: string) =>
  readFileSync(fileURLToPath(new URL(`../../deploy/${path}`, import.meta.url)), "utf8");
const isHere = (program: string, flag: string) => {
  const found = spawnSync(program, [flag]).status === 0;
  if (!found) process.stderr.write(`${program} is not here, so the test of its sample is skipped\n`);
  return found;
};

export const CACHES = {
  nginx: { isHere: isHere("nginx", "-v"), start: startNginx },
  varnish: { isHere: isHere("varnishd", "-V"), start: startVarnish },
} as const;

function startNginx(upstream: string): Promise<HttpCache> {
  return start(async (folder, port) => {
    const ours = replaceAll(read("nginx/docmirror.conf"), {
      "/var/cache/nginx/docmirror": join(folder, "kept"),
      "server 127.0.0.1:8321;": `server ${new URL(upstream).host};`,
      "listen 80;": `listen 127.0.0.1:${port};`,
    });
    const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => {
      mkdirSync(join(folder, name));
      return `${name}_temp_path ${join(folder, name)};`;
    });
    const file = join(folder, "nginx.conf");
    writeFileSync(
      file,
      [
        ...(process.getuid?.() === 0 ? ["user root;"] : []),
        `daemon off; pid ${join(folder, "pid")}; error_log stderr;`,
        "worker_processes 1; events {}",
        `http { access_log off; ${temporary.join(" ")}`,
        `${ours}}`,
      ].join("\n"),
    );
    return ["nginx", "-c", file, "-p", folder];
  });
}

function startVarnish(upstream: string): Promise<HttpCache> {
  return start(async (folder, port) => {
    const file = join(folder, "docmirror.vcl");
    const { port: behind } = new URL(upstream);
    writeFileSync(
      file,
      replaceAll(read("varnish/docmirror.vcl"), { '.port = "8321";': `.port = "${behind}";` }),
    );
    const place = ["-n", join(folder, "state"), "-a", `127.0.0.1:${port}`];
    return ["varnishd", "-F", "-f", file, ...place, "-s", "malloc,64m", "-j", "none"];
  });
}

function replaceAll(text: string, changes: Record<string, string>): string {
  for (const [from, to] of Object.entries(changes)) {
    if (!text.includes(from)) throw new Error(`the sample has no ${from}`);
    text = text.replaceAll(from, to);
  }
  return text;
}

async function start(prepare: (folder: string, port: number) => Promise<string[]>): Promise<HttpCache> {
  const folder = mkdtempSync(join(tmpdir(), "docmirror-cache-"));
  const port = await freePort();
  const [program = "", ...args] = await prepare(folder, port);
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"] });
  const end = () => void child.kill("SIGKILL");
  process.once("exit", end);
  const url = `http://127.0.0.1:${port}`;
  await isUp(child, url);
  return {
    url,
    async [Symbol.asyncDispose]() {
      process.off("exit", end);
      const ended = once(child, "exit");
      // Its own processes end with it.
      if (child.exitCode === null && child.kill("SIGTERM")) await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function isUp(child: ChildProcess, url: string): Promise<void> {
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`${child.spawnfile} ended with exit code ${code}: ${said}`);
  });
  ended.catch(() => {});
  const answers = async () => {
    for (;;) {
      const reply = await fetch(`${url}/livez`).catch(() => null);
      if (reply?.status === 200) return;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await Promise.race([answers(), ended]);
}
