import { renderBlock } from "./parts/block.ts";
import type { DocumentFacts } from "./parts/document.ts";
import { html } from "./parts/html.ts";
import { mark } from "./parts/mark.ts";
import { faultNotice } from "./parts/notice.ts";

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
