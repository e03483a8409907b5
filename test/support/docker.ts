import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Page } from "playwright-core";

const run = promisify(execFile);

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** What the Dockerfile and docker-compose.yml start from. */
const IMAGES = ["node:24-bookworm-slim", "debian:bookworm-slim", "postgres:18"];
let reason: Promise<string | null> | undefined;

/** Why containers cannot be tested here; null where they can. It looks once, and pulls nothing. */
export function whyNoContainers(): Promise<string | null> {
  reason ??= findReason();
  return reason;
}

async function findReason(): Promise<string | null> {
  const answers = (args: readonly string[]) =>
    docker(args, {}, 10_000)
      .then(() => true)
      .catch(() => false);
  if (!(await answers(["info"]))) return "Docker does not answer";
  if (!(await answers(["compose", "version"]))) return "Docker has no compose";
  for (const image of IMAGES)
    if (!(await answers(["image", "inspect", image]))) return `docker pull ${image} is needed first`;
  return null;
}

/** Runs a command of Docker in the folder of the project, and gives its stdout. Throws where it fails. */
export async function docker(
  args: readonly string[],
  env: Record<string, string> = {},
  timeout = 60_000,
): Promise<string> {
  const { stdout } = await run("docker", args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    timeout,
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout.trim();
}

/** The least a finger hits, in CSS pixels: WCAG 2.2, target size. */
const LEAST = 24;

/**
 * What is wrong with the boxes of the controls of a page, as they lie now: two that overlap, one outside the window, one
 * that is smaller than 24 × 24 px. A link that breaks over two lines has two boxes. What only a keyboard or a screen
 * reader reaches has none.
 */
export function findClashes(page: Page): Promise<string[]> {
  return page.evaluate((least) => {
    const { document, innerWidth, getComputedStyle } = globalThis as unknown as {
      document: { querySelectorAll(selector: string): Iterable<Control> };
      innerWidth: number;
      getComputedStyle(node: Control): { clipPath: string };
    };
    type Box = Readonly<Record<"left" | "right" | "top" | "bottom" | "width" | "height", number>>;
    interface Control extends Readonly<Record<"id" | "localName" | "className" | "textContent", string>> {
      getClientRects(): Iterable<Box>;
      readonly parentElement: Control | null;
      checkVisibility(options: { visibilityProperty: boolean }): boolean;
      contains(other: Control): boolean;
      closest(selector: string): Control | null;
    }
    const SLACK = 0.6;
    const nameOf = (node: Control) => {
      const place = node.closest("[id]:not(#main), nav, header, footer");
      return `${place?.id || place?.localName || "?"} > ${node.localName} “${node.textContent.replace(/\s+/g, " ").trim().slice(0, 30)}”`;
    };
    // The heads of a table that is shown as cards are clipped with all that they hold. Many controls share their ancestors.
    const clipped = new Map<Control, boolean>();
    const isClipped = (node: Control | null): boolean => {
      if (node === null) return false;
      const known =
        clipped.get(node) ?? (getComputedStyle(node).clipPath !== "none" || isClipped(node.parentElement));
      clipped.set(node, known);
      return known;
    };
    const boxes: { node: Control; name: string; box: Box }[] = [];
    const faults: string[] = [];
    const controls = "a[href], button, input:not([type=hidden]), select, summary, textarea";
    for (const node of document.querySelectorAll(controls)) {
      // A closed fold does not show what it holds, though it has boxes.
      if (isClipped(node) || !node.checkVisibility({ visibilityProperty: true })) continue;
      const name = nameOf(node);
      const rects = [...node.getClientRects()].filter(({ width, height }) => width > 0 && height > 0);
      for (const box of rects) {
        // A link for the keyboard waits far to the left until it has the focus.
        if (box.right < -1000) continue;
        boxes.push({ node, name, box });
        if (box.left < -SLACK || box.right > innerWidth + SLACK)
          faults.push(`outside: ${name} at ${Math.round(box.left)} to ${Math.round(box.right)}`);
        if (box.height < least - SLACK || (rects.length === 1 && box.width < least - SLACK))
          faults.push(`small: ${name}, ${box.width.toFixed(1)} × ${box.height.toFixed(1)}`);
      }
    }
    boxes.sort((one, other) => one.box.top - other.box.top);
    for (const [place, one] of boxes.entries()) {
      for (let next = place + 1; next < boxes.length; next++) {
        const other = boxes[next];
        if (other === undefined || other.box.top > one.box.bottom - SLACK) break;
        const across = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
        const down = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
        const isNested = one.node.contains(other.node) || other.node.contains(one.node);
        if (across > SLACK && down > SLACK && !isNested)
          faults.push(`overlap: ${one.name} and ${other.name}, ${across.toFixed(0)} × ${down.toFixed(0)}`);
      }
    }
    return [...new Set(faults)];
  }, LEAST);
}
