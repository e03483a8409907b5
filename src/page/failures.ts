import { ConfigError, StoreError } from "../base/errors.ts";
import { sqlstateOf } from "../store/connection/store-errors.ts";
import { isRecoveryConflict } from "../store/connection/transaction.ts";
import { BusyError } from "./cache/gate.ts";
import { renderBlock } from "./parts/block.ts";
import type { DocumentFacts } from "./parts/document.ts";
import { html, shorten } from "./parts/html.ts";
import { mark } from "./parts/marks.ts";
import { faultNotice } from "./parts/notice.ts";

interface ExplainedFailure {
  readonly status: 400 | 500 | 503;
  readonly title: string;
  readonly words: string;
  /** Whether it is a bug of docmirror, not a fault of the request or the database. */
  readonly isOurs: boolean;
  /** Whether the database could not be reached. @default false */
  readonly isAway?: boolean;
}

const QUERY_CANCELED = "57014";

/**
 * How a page explains an error. For the database it only says that it does not answer: its address must not
 * be shown.
 */
export function explainPageFailure(error: unknown): ExplainedFailure {
  if (error instanceof ConfigError) {
    return {
      status: 400,
      title: "This request cannot be answered",
      words: shorten(`${error.message}${error.hint ? `: ${error.hint}` : ""}`, 500),
      isOurs: false,
    };
  }
  if (error instanceof BusyError) {
    return {
      status: 503,
      title: "Too many ask at the moment",
      words: "Other readers were here first. Try again in a few seconds.",
      isOurs: false,
    };
  }
  if (sqlstateOf(error) === QUERY_CANCELED) {
    return {
      status: 503,
      title: "The answer took too long",
      words: "The database did not answer in time. Ask for fewer days, or try again in a minute.",
      isOurs: false,
    };
  }
  if (isRecoveryConflict(error)) {
    return {
      status: 503,
      title: "The database is catching up",
      words: "This replica had to replay changes of its primary first. Try again.",
      isOurs: false,
    };
  }
  if (error instanceof StoreError) {
    return {
      status: 503,
      title: "The database does not answer, so nothing can be said about the builds now.",
      words:
        "docmirror keeps trying to reach it. This page asks again every ten seconds, and works again as soon as it answers.",
      isOurs: false,
      isAway: true,
    };
  }
  return {
    status: 500,
    title: "docmirror has a fault",
    words: "The page could not be made. The log of docmirror has the details.",
    isOurs: true,
  };
}

const DOCTOR = html`<pre tabindex="0" role="region" aria-label="Command: docmirror doctor">docmirror doctor</pre>`;

/** The page while the database does not answer: that nothing is known now, and where to look. */
export function awayNotice(title: string, words: string, path: string, requestId?: string): DocumentFacts {
  const facts = faultNotice(title, words, path, requestId);
  return {
    ...facts,
    title: "! Database away",
    age: html`<a class="fresh warn" href="${path}">${mark("warn", "look here")}<span><b>Database away</b></span></a>`,
    main: html`${facts.main}
${renderBlock({
  id: "look",
  title: "Where to look",
  body: html`<ol class="steps">
    <li><div>Is it up, and is the address right?${DOCTOR}</div></li>
<li><div>What did it say last? Its own log: <code>postgres.log</code> in the data folder, or that of your server.</div></li></ol>`,
})}`,
  };
}
