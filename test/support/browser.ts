import { existsSync } from "node:fs";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";

/** Chromium's path: `CHROMIUM_PATH`, else where Debian has it; null where there is none. */
export const CHROMIUM =
  [process.env.CHROMIUM_PATH, "/usr/bin/chromium", "/usr/bin/chromium-browser"].find(
    (path) => path !== undefined && existsSync(path),
  ) ?? null;

/** Call it only where there is a CHROMIUM. It is closed by `close()`. */
export async function startBrowser(): Promise<Browser> {
  // Here, because the short tests load this file and start no browser.
  const { chromium } = await import("playwright-core");
  return chromium.launch({
    ...(CHROMIUM !== null && { executablePath: CHROMIUM }),
    // Root in a container has neither a sandbox nor much shared memory, and nothing but our own page is opened.
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
  });
}

/** The three looks that a page must bear. */
export const LOOKS = {
  "in the light": { viewport: { width: 1280, height: 900 }, colorScheme: "light" },
  "in the dark": { viewport: { width: 1280, height: 900 }, colorScheme: "dark" },
  "on a phone": { viewport: { width: 360, height: 740 }, colorScheme: "light", hasTouch: true },
} as const satisfies Record<string, BrowserContextOptions>;

/**
 * Opens a page of a server on this machine, in a fresh profile. `faults` is what went wrong so far: errors in the console (a
 * refusal of the Content-Security-Policy is one) or in the page, requests to another host.
 */
export async function visit(browser: Browser, url: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const faults: string[] = [];
  const { origin } = new URL(url);
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(message.text());
  });
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("request", (request) => {
    const target = request.url();
    if (!target.startsWith(`${origin}/`) && !target.startsWith("data:")) faults.push(`request to ${target}`);
  });
  await page.goto(url);
  return { page, faults, [Symbol.asyncDispose]: () => context.close() };
}

/** All that axe-core finds, as `rule: where`. */
export async function findBarriers(page: Page): Promise<string[]> {
  const { default: axe } = await import("axe-core");
  // By the debugger, which no policy of the page holds up.
  await page.evaluate(axe.source);
  const violations = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: typeof import("axe-core") };
    return (await axe.run({ resultTypes: ["violations"] })).violations;
  });
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(" ")}`));
}

/** How many pixels wider the page is than its window. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate("document.documentElement.scrollWidth - innerWidth");
}

/** Words of a chart that lie on each other, and blocks that show no more than their heading. */
export function findUnreadable(page: Page): Promise<string[]> {
  return page.evaluate(`
    [...document.querySelectorAll("main section.block")].filter((block) => block.checkVisibility()).flatMap((block) => {
      const isBare = [...block.children].every((one) => one.matches(".bh") || !one.checkVisibility());
      const clashes = [...block.querySelectorAll("svg")].flatMap((svg) => {
        const words = [...svg.querySelectorAll("text")].filter((one) => one.checkVisibility());
        const boxes = words.map((one) => [one.textContent, one.getBoundingClientRect()]);
        return boxes.flatMap(([word, one], place) =>
          boxes.slice(place + 1).flatMap(([next, other]) => {
            const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
            const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
            return across > 1 && down > 4 ? [block.id + ": “" + word + "” lies on “" + next + "”"] : [];
          }));
      });
      return [...(isBare ? [block.id + " is bare"] : []), ...clashes];
    })`);
}
