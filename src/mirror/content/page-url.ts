/** A longer address is not requested: servers refuse it. */
const MAX_URL_LENGTH = 4000;

/**
 * The address of a file's page below `docsUrl`, from the `absolute_url` of its record. The path prefix of
 * `docsUrl` is added when the address lacks it. Null for a place on another origin, for an address that
 * cannot be read, and for none at all, so that a record can never lead a request elsewhere.
 */
export function pageUrl(absoluteUrl: string | null, docsUrl: URL): URL | null {
  if (absoluteUrl === null || absoluteUrl.trim() === "" || absoluteUrl.length > MAX_URL_LENGTH) return null;
  const prefix = docsUrl.pathname.replace(/\/+$/, "");
  const address = withColon(absoluteUrl);
  if (!URL.canParse(address, `${docsUrl.origin}${prefix}/`)) return null;
  const url = new URL(address, `${docsUrl.origin}${prefix}/`);
  if (url.origin !== docsUrl.origin || url.username !== "" || url.password !== "") return null;
  if (!url.pathname.startsWith(`${prefix}/`)) url.pathname = prefix + url.pathname;
  url.hash = "";
  return url.href.length <= MAX_URL_LENGTH ? url : null;
}

/** Real servers write some addresses as `http//host`, without the colon. */
function withColon(address: string): string {
  return address.replace(/^\s*(https?)\/\//i, "$1://");
}

const MAX_VERSION_LENGTH = 200;

/**
 * The version that a page belongs to, and its path below the documentation of the project, such as
 * `en/latest/guide/index.html`. The address says it: `/docs/SLUG/en/VERSION/PATH`, where PATH is the record's `path`, or
 * `/en/VERSION/PATH` on a host of the project. Null for any other one.
 */
export function pagePlace(absoluteUrl: string | null, filePath: string | null) {
  if (absoluteUrl === null || !URL.canParse(withColon(absoluteUrl), "http://localhost/")) return null;
  const { pathname } = new URL(withColon(absoluteUrl), "http://localhost/");
  const below = pathname.replace(/^\/docs\/[^/]*\//, "/").slice(1);
  const named = filePath === null ? "" : encodedPath(filePath);
  const front =
    named !== "" && below.endsWith(`/${named}`)
      ? below.slice(0, -named.length - 1)
      : /^[^/]+\/[^/]+(?=\/)/.exec(below)?.[0];
  const version = front === undefined ? "" : decode(front.slice(front.lastIndexOf("/") + 1));
  const isVersion = version.length <= MAX_VERSION_LENGTH && /^\P{Cc}+$/u.test(version);
  return { version: isVersion ? version : null, path: below };
}

function encodedPath(path: string): string {
  return new URL(`http://localhost/${path.replace(/^\/+/, "")}`).pathname.slice(1);
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** All are as the service sent them, except for `url`. */
export interface PageAddress {
  absoluteUrl: string | null;
  path: string | null;
  name: string | null;
  url: string | null;
  subdomain: string | null;
}

export function anchorLink(address: PageAddress, id: string): string {
  return `${pageLink(address)}#${encodeFragment(id)}`;
}

/** Link and path of a page, as the doc search gives them: both without `.html`. */
export function docLink(address: PageAddress): { link: string; path: string } {
  const bare = (text: string) => text.replace(/\.html$/, "");
  return { link: bare(pageLink(address)), path: bare(address.path ?? "") };
}

/** The address that readers know: below the project's `subdomain`, else the one that was requested. */
function pageLink({ absoluteUrl, path, url, subdomain }: PageAddress): string {
  const place = pagePlace(absoluteUrl, path);
  const host = withColon(subdomain ?? "");
  const isPath = absoluteUrl !== null && /^\/(?!\/)/.test(absoluteUrl);
  if (place !== null && isPath && /^https?:\/\/[^/]/i.test(host))
    return `${host.replace(/\/+$/, "")}/${place.path}`;
  return url ?? withColon(absoluteUrl ?? "");
}

function encodeFragment(id: string): string {
  return encodeURIComponent(id).replace(/%(?:2[1246789BCF]|3[ABDF]|40|7E)/g, decodeURIComponent);
}
