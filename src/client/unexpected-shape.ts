import { UnexpectedShapeError } from "../base/errors.ts";

const HINT = "the service may have another release of this interface, or the base URL is wrong";

/** The error for a reply that does not have the documented shape. `fault` completes "GET … answered, but". */
export function unexpectedShape(url: string, fault: string, hint: string = HINT): UnexpectedShapeError {
  return new UnexpectedShapeError(`GET ${url} answered, but ${fault}`, { url, hint });
}
