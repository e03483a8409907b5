import { counted } from "../../base/text.ts";
import { block } from "../parts/block.ts";
import { rateDot } from "../parts/changes.ts";
import { html, targetWords } from "../parts/html.ts";
import { askForMainDays, drawMainDays, findMainDays, MAIN_DAYS } from "../parts/main-days.ts";
import { dayName } from "../parts/period.ts";
import { OWN, type ProjectScope } from "./project-scope.ts";

/** The main docs by day, with the rate of these days. */
export const days = block({
  id: "days",
  narrowedBy: OWN,
  asks: (_: ProjectScope) => ({}),
  file: ({ subject: { id }, at }) => askForMainDays([id], at),
  async draw(_found, { subject, at, now }, _said, tx) {
    if (subject.id === "-1") return null;
    const main = (await findMainDays(tx, [subject.id], at))(subject.id);
    const [first, last] = [main.days[0], main.days.at(-1)].map((day) => dayName(day?.number ?? 0, now));
    return {
      title: `Main docs, ${MAIN_DAYS} days`,
      count: counted(main.finished, "finished build"),
      note: html`${targetWords(subject.mainVersion, "html")}. Up: builds of the day succeeded, down: failed, on the line: none has finished; the
        line alone: no builds, no line: not known.`,
      empty: main.days.every(({ row }) => row === undefined) && [
        "unknown",
        "No builds",
        `of the main docs were triggered in these ${MAIN_DAYS} days.`,
      ],
      body: html`${drawMainDays(main, subject.slug, now)}
<p class="strip-ends"><span>${first}</span><span>${last}</span></p>
${rateDot(main.succeeded, main.finished)}`,
    };
  },
});
