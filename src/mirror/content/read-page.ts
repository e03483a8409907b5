/**
 * Reads a page as a visitor sees it: title, text, and the places that a link can name. From its tokens, because a tree of
 * tags that are nested a million deep would cost minutes.
 */
import { Tokenizer } from "htmlparser2";
import type { Anchor } from "../../store/schema/file-contents.ts";

export interface PageContent {
  /** One line, at most 500 characters. Empty when the page has none. */
  title: string;
  /** The visible text with single blanks, at most 400,000 characters. */
  text: string;
  /** In the order of the page, at most 2,000. No two have the same id, and none has an empty text. */
  anchors: Anchor[];
}

const MAX_TITLE_LENGTH = 500;
const MAX_TEXT_LENGTH = 400_000;
const MAX_ANCHORS = 2000;
const MAX_ANCHOR_ID_LENGTH = 300;
const MAX_ANCHOR_TEXT_LENGTH = 200;
/** Ids that wait for a text at the same time. A page with more of them in a row was not made for reading. */
const MAX_OPEN_ANCHORS = 50;

const CODE = new Set(["script", "style"]);
/** Elements whose content no visitor reads as text, and those that lead elsewhere, the same on every page of a site. */
const UNREAD = new Set([
  ...[...CODE, "nav", "footer"],
  ..."template noscript svg math iframe object canvas audio video select textarea button".split(" "),
]);
const LEADING_ROLES = new Set(["navigation", "search", "contentinfo", "banner"]);
/** Links from a heading to itself, whose sign is no part of its text. */
const SELF_LINKS = /(?:^|\s)(?:headerlink|header-anchor|hash-link|anchorjs-link|anchor-link)(?:\s|$)/;
/** Elements that do not end a line of text. */
const INLINE = new Set(
  (
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q rp rt ruby s samp small " +
    "span strike strong sub sup time tt u var wbr img input"
  ).split(" "),
);
/** Elements without a content. Their names open nothing, so nothing waits for their end. */
const VOID = new Set(
  "area base basefont br col embed frame hr img input link meta param source track wbr".split(" "),
);

/** Never throws: every text is a page, and a page without content gives empty texts. */
export function readPage(html: string): PageContent {
  const { page, isCutOff } = scan(html, true);
  // A part that never ends would hide the rest of the page. So nothing but code is left out of such a page.
  return isCutOff ? scan(html, false).page : page;
}

/** A part of the page that is open, by the name of its element and how often that name is open within it. */
type Part = { tag: string; depth: number };

function scan(html: string, leavesOut: boolean): { page: PageContent; isCutOff: boolean } {
  const whole = createGathered();
  const main = createGathered();
  /** The part that is being passed over. */
  let skipped: Part | null = null;
  let mainPart: Part | null = null;
  const titles: string[] = [];
  const headings: string[] = [];
  /** The title or heading whose text is collected, and the list that it goes to. */
  let collecting: { tag: string; into: string[]; text: string } | null = null;
  let tag = "";
  let attribute = "";
  let value = "";
  let attributes: Record<string, string> = {};

  const gathered = () => (mainPart === null ? whole : main);

  function addText(text: string): void {
    if (skipped !== null) return;
    if (collecting && collecting.text.length < MAX_TITLE_LENGTH * 2)
      collecting.text += text.slice(0, MAX_TITLE_LENGTH * 2);
    if (collecting?.into !== titles) gathered().add(text);
  }

  function openTag(): void {
    const { id = "", role = "", class: classes = "", name = "" } = attributes;
    const opens = !VOID.has(tag);
    if (skipped !== null) {
      if (skipped.tag === tag && opens) skipped.depth += 1;
      return;
    }
    if (mainPart?.tag === tag && opens) mainPart.depth += 1;
    const isUnread =
      UNREAD.has(tag) || LEADING_ROLES.has(role.toLowerCase()) || (tag === "a" && SELF_LINKS.test(classes));
    if (!INLINE.has(tag)) gathered().endLine();
    if (opens && (leavesOut ? isUnread : CODE.has(tag))) {
      skipped = { tag, depth: 1 };
      return;
    }
    if (mainPart === null && opens && (tag === "main" || role.toLowerCase() === "main"))
      mainPart = { tag, depth: 1 };
    if (tag === "title" || tag === "h1") {
      finishCollecting();
      collecting = { tag, into: tag === "title" ? titles : headings, text: "" };
    }
    const place = id !== "" ? id : tag === "a" ? name : "";
    if (place !== "") gathered().openAnchor(place, tag);
  }

  function closeTag(name: string): void {
    if (collecting?.tag === name) finishCollecting();
    if (skipped !== null) {
      if (skipped.tag === name && --skipped.depth === 0) skipped = null;
      return;
    }
    // `<a name="x">text</a>`: the text ends with its own element.
    if (INLINE.has(name)) gathered().finishAnchors((anchor) => anchor.tag === name);
    else gathered().endLine();
    if (mainPart?.tag === name && --mainPart.depth === 0) mainPart = null;
  }

  function finishCollecting(): void {
    const text = collecting === null ? "" : tidy(collecting.text, MAX_TITLE_LENGTH);
    if (collecting !== null && text !== "" && collecting.into.length < 20) collecting.into.push(text);
    collecting = null;
  }

  function addValue(text: string): void {
    // No attribute that is read here is longer.
    if (value.length <= 1000) value += text.slice(0, 1001);
  }

  const ignore = () => {};
  const tokenizer = new Tokenizer(
    { xmlMode: false, decodeEntities: true },
    {
      ontext: (start, end) => addText(html.slice(start, end)),
      ontextentity: (point) => addText(String.fromCodePoint(point)),
      onopentagname(start, end) {
        tag = html.slice(start, Math.min(end, start + 40)).toLowerCase();
        attributes = {};
      },
      onattribname(start, end) {
        attribute = html.slice(start, Math.min(end, start + 40)).toLowerCase();
        value = "";
      },
      onattribdata: (start, end) => addValue(html.slice(start, end)),
      onattribentity: (point) => addValue(String.fromCodePoint(point)),
      onattribend() {
        if (attribute === "id" || attribute === "role" || attribute === "class" || attribute === "name")
          attributes[attribute] ??= value;
      },
      onopentagend: openTag,
      // Only these two may end in their own tag. HTML takes the slash of any other tag for nothing.
      onselfclosingtag: () => (tag === "svg" || tag === "math" ? undefined : openTag()),
      onclosetag: (start, end) => closeTag(html.slice(start, Math.min(end, start + 40)).toLowerCase()),
      oncdata: ignore,
      oncomment: ignore,
      ondeclaration: ignore,
      onprocessinginstruction: ignore,
      onend: ignore,
    },
  );
  tokenizer.write(html);
  tokenizer.end();
  finishCollecting();
  for (const each of [whole, main]) each.endLine();

  const text = tidy(main.pieces.join(""), MAX_TEXT_LENGTH);
  const isMain = text !== "";
  return {
    page: {
      title: chooseTitle(titles, headings),
      text: isMain ? text : tidy(whole.pieces.join(""), MAX_TEXT_LENGTH),
      anchors: (isMain ? main : whole).anchors,
    },
    isCutOff: skipped !== null && !CODE.has((skipped as Part).tag),
  };
}

/** The text of a part of the page, and its anchors. */
interface Gathered {
  readonly pieces: readonly string[];
  readonly anchors: Anchor[];
  add(text: string): void;
  openAnchor(id: string, tag: string): void;
  finishAnchors(isOver: (anchor: { tag: string }) => boolean): void;
  /** A blank between two lines, and the end of every anchor that has its text. */
  endLine(): void;
}

function createGathered(): Gathered {
  const pieces: string[] = [];
  let length = 0;
  const anchors: Anchor[] = [];
  let open: { id: string; tag: string; text: string }[] = [];
  /** One of them has a text already, so that the end of a line matters. */
  let isAwaited = false;
  const ids = new Set<string>();

  function add(text: string): void {
    // Blanks are counted too, so a page of blanks ends here as well.
    if (length < MAX_TEXT_LENGTH * 2) {
      pieces.push(text);
      length += text.length;
    }
    if (open.length === 0 || (!isAwaited && text.trim() === "")) return;
    isAwaited = true;
    for (const anchor of open)
      if (anchor.text.length < MAX_ANCHOR_TEXT_LENGTH * 2)
        anchor.text += text.slice(0, MAX_ANCHOR_TEXT_LENGTH * 2);
  }

  function finishAnchors(isOver: (anchor: { tag: string }) => boolean): void {
    if (!isAwaited) return;
    open = open.filter((anchor) => {
      if (!isOver(anchor) || !/\S/.test(anchor.text)) return true;
      const text = tidy(anchor.text, MAX_ANCHOR_TEXT_LENGTH).replace(/\s*[¶#]$/, "");
      if (text !== "") anchors.push({ id: anchor.id, text });
      return false;
    });
    isAwaited = open.some(({ text }) => /\S/.test(text));
  }

  return {
    pieces,
    anchors,
    add,
    finishAnchors,
    openAnchor(id, tag) {
      const clean = toStorable(id);
      if (clean.length > MAX_ANCHOR_ID_LENGTH || ids.has(clean)) return;
      if (open.length >= MAX_OPEN_ANCHORS || anchors.length + open.length >= MAX_ANCHORS) return;
      ids.add(clean);
      open.push({ id: clean, tag, text: "" });
    },
    endLine() {
      add(" ");
      finishAnchors(() => true);
    },
  };
}

/** The heading that begins the title, because generators add the project's name behind it. Else the title, or a heading. */
function chooseTitle([title]: readonly string[], headings: readonly string[]): string {
  const bare = headings.map((heading) => heading.replace(/\s*[¶#]$/, "")).filter((heading) => heading !== "");
  if (title === undefined) return bare[0] ?? "";
  const begins = (heading: string) =>
    title.startsWith(heading) && /^(?:\s|$)/.test(title.slice(heading.length));
  return bare.find(begins) ?? title;
}

/** Single blanks, no control characters, and a length that is cut between two characters. */
function tidy(text: string, maxLength: number): string {
  const clean = toStorable(text.normalize("NFC")).replace(/\s+/gu, " ").trim();
  return clean.length <= maxLength ? clean : clean.slice(0, maxLength).toWellFormed().trimEnd();
}

/** Without what Postgres cannot hold, or a terminal would obey: control characters and half pairs. */
function toStorable(text: string): string {
  return text.replace(/\p{Cc}/gu, " ").toWellFormed();
}
