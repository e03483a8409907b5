import { ConfigError, StoreError } from "../base/errors.ts";
import { isRecoveryConflict, sqlstateOf } from "../store/connection/store-errors.ts";
import { BusyError } from "./cache/gate.ts";
import { renderBlock } from "./parts/block.ts";
import { type Draft, faultNotice } from "./parts/document.ts";
import { html, shorten } from "./parts/html.ts";
import { mark } from "./parts/marks.ts";

const QUERY_CANCELED = "57014";

/**
 * The words by which a page explains an error. `isOurs` is a bug of docmirror; `isAway` says that the database could not be reached. Of
 * that it only says that it does not answer: its address must not be shown.
 */
export function explainPageFailure(error: unknown) {
  const [status, title, words] = wordsOf(error);
  return { status, title, words, isOurs: status === 500, isAway: title === AWAY };
}

const AWAY = "The database does not answer, so nothing can be said about the builds now.";

type Words = readonly [status: 400 | 500 | 503, title: string, words: string];

function wordsOf(error: unknown): Words {
  if (error instanceof ConfigError) {
    const { message, hint } = error;
    const words = shorten(hint ? `${message}${/[?.]$/.test(message) ? "" : ":"} ${hint}` : message, 500);
    return [400, "This request cannot be answered", words];
  }
  if (error instanceof BusyError)
    return [503, "Too many ask at the moment", "Other readers were here first. Try again in a few seconds."];
  if (sqlstateOf(error) === QUERY_CANCELED)
    return [
      503,
      "The answer took too long",
      "The database did not answer in time. Ask for fewer days, or try again in a minute.",
    ];
  if (isRecoveryConflict(error))
    return [
      503,
      "The database is catching up",
      "This replica had to replay changes of its primary first. Try again.",
    ];
  if (error instanceof StoreError)
    return [
      503,
      AWAY,
      "docmirror keeps trying to reach it. This page asks again every ten seconds, and works again as soon as it answers.",
    ];
  return [500, "docmirror has a fault", "The page could not be made. The log of docmirror has the details."];
}

const DOCTOR = html`<pre tabindex="0" role="region" aria-label="Command: docmirror doctor">docmirror doctor</pre>`;

/** The page while the database does not answer: that nothing is known now, and where to look. */
export function awayNotice(title: string, words: string, path: string, requestId?: string): Draft {
  const { verdict } = faultNotice(title, words, path, requestId);
  return {
    verdict: { ...verdict, title: "! Database away" },
    age: html`<a class="fresh warn" href="${path}">${mark("warn", "look here")}<span><b>Database away</b></span></a>`,
    main: html`
${renderBlock({
  id: "look",
  title: "Where to look",
  body: html`<ol class="steps">
    <li><div>Is it up, and is the address right?${DOCTOR}</div></li>
<li><div>What did it say last? Its own log: <code>postgres.log</code> in the data folder, or that of your server.</div></li></ol>`,
})}`,
  };
}
