import { MirrorError } from "../../base/errors.ts";

/** Nobody reads the reply any more, so it is not made. */
export class ReaderGoneError extends MirrorError {
  override name = "ReaderGoneError";

  constructor() {
    super("the reader is gone");
  }
}

/** A signal that is aborted with ReaderGoneError when the reader of this request closes the connection. */
export function whileRead({ signal }: Pick<Request, "signal">): AbortSignal {
  const reader = new AbortController();
  const leave = () => reader.abort(new ReaderGoneError());
  if (signal.aborted) leave();
  else signal.addEventListener("abort", leave, { once: true });
  return reader.signal;
}
