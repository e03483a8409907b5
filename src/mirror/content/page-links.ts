import { pagePlace, withColon } from "./page-url.ts";

/** What a link to a page is made of. All are as the service sent them, except for `url`. */
export interface PageAddress {
  absoluteUrl: string | null;
  path: string | null;
  name: string | null;
  /** What was requested for the page. */
  url: string | null;
  /** The address of the project's documentation. */
  subdomain: string | null;
}

/** The address of an anchor, as the anchor search gives it. */
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
