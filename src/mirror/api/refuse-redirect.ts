import { maskUrl } from "../../base/config/mask-url.ts";
import { WrongAddressError } from "../../base/errors.ts";
import { showUrl } from "./upstream-errors.ts";
import type { NameOf } from "./wording.ts";

const API = "/api/v1/";
/** Messages cut a longer Location: a server may send any text. */
const SHOWN_LENGTH = 200;

/** Throws for a redirect that is not followed. Names the base URL to set, if the `Location` shows it. */
export function refuseRedirect(url: URL, status: number, location: string, nameOf: NameOf): never {
  const shown = maskUrl(location).slice(0, SHOWN_LENGTH);
  const what = `GET ${showUrl(url)} answered ${status} to '${shown}', which is not followed`;
  const baseUrl = movedTo(url, location);
  if (baseUrl !== null) {
    throw new WrongAddressError(`It has moved to ${baseUrl}; set ${nameOf("baseUrl")} to that (${what})`, {
      url: showUrl(url),
      hint: "first check that this address belongs to the service",
    });
  }
  throw new WrongAddressError(what, {
    url: showUrl(url),
    hint: "only redirects within the service's API are followed; if this is a login: docmirror reads public interfaces only",
  });
}

/** One redirect led to the next, too often. `status` is that of the last one. */
export class RedirectsError extends WrongAddressError {
  override name = "RedirectsError";
  readonly status: number;

  constructor(url: URL, most: number, status: number) {
    const hint = "the service redirects in a circle: report it to the operator of the service";
    const shown = showUrl(url);
    super(`GET ${shown} answered with more than ${most} redirects, which is not followed`, {
      url: shown,
      hint,
    });
    this.status = status;
  }
}

/** The base URL of the same API at its new address, or null when the `Location` is not such an address. */
function movedTo(url: URL, location: string): string | null {
  if (location === "" || !URL.canParse(location, url.href)) return null;
  const place = new URL(location, url);
  if (place.protocol !== "http:" && place.protocol !== "https:") return null;
  const api = place.pathname.indexOf(API);
  if (api < 0 && place.pathname !== "/") return null;
  const prefix = place.pathname.slice(0, Math.max(0, api));
  const isHere = place.origin === url.origin && (api < 0 || url.pathname.startsWith(prefix + API));
  return isHere ? null : `${place.origin}${prefix}`.slice(0, SHOWN_LENGTH);
}
