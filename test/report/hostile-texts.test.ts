/** Any user of the service can write a build's texts, so the worst of them may cost a refresh little more than a plain one. */
import { beforeAll, describe, expect, test } from "vitest";
import { useDatabase } from "../support/use-database.ts";

const MOST_TIMES_PLAIN = 10;
const ATTEMPTS = 30;
const LOG_LENGTH = 4000;
/** The longest line that is taken from a log. */
const LINE_LENGTH = 400;

/** What a rule begins with, or nearly matches. */
const OPENINGS = [
  ..." ¦a¦.¦a.¦a.1.¦/¦../¦'¦a'¦'a b¦'a/b' ¦\"¦\" ¦\"a ¦`¦`a¦“¦“a ¦“a” ¦(from ¦(from (¦=¦a=¦a==1,¦>1, <2,¦1¦1.¦1 ¦1:1:".split(
    "¦",
  ),
  ..."1:11:11 ¦[¦a[a,¦a[b]==1 ¦@a.¦a@b.c ¦a://¦a:/¦<name> ¦<n>, ¦<path>:1 ¦<n> or ¦package a ¦package a is missing ".split(
    "¦",
  ),
  ..."found for a[¦wheel for a ¦module named a ¦0x¦0x1 ¦deadbeef1¦1234567 ¦abcdef1 ¦9abcdef0-1234-¦2024-01-01 ¦-¦é¦🙂".split(
    "¦",
  ),
  ..."\\¦a:\\¦a.error¦a.b.error ¦a.b:1 ¦v1.0a¦~/¦/a ¦a/b ¦1 a/b 'c' a.b 0x1 x==1 ".split("¦"),
];
const LOG_OPENINGS = [
  ..." traceback:¦ traceback:\n k¦error:¦error:\n¦ error:¦err¦fatal¦exceptio¦kille¦out of memor¦no space lef¦Killed:¦k¦ k¦¦ ".split(
    "¦",
  ),
  ..."\t¦\t \t¦\r¦\r\n¦\u0001a¦\u007fa¦\u0085¦\u001b¦\u001b[¦\u001b[m¦\u001b[mk¦\u001b[0¦\u001b[0;1 ¦é¦🙂".split(
    "¦",
  ),
];
const PLAIN_LINE = [
  "docs/conf.py:62: WARNING: No module named 'sea.shore' (exit code 2, commit 0c4fed7b2af45f at 2024-11-03 01:30:00); ERROR: ",
  "could not find a version that satisfies the requirement sphinx==1.8.5 (from versions: 1.0, 2.0) in /home/docs/pip.conf, ",
].join("");
/** The error comes first, so all of it is read. */
const PLAIN_LOG = `ERROR: it went wrong\n${"\u001b[32mreading sources\u001b[0m... [ 50%]\tdocs/a/index.rst\n".repeat(75)}`;

const fill = (text: string, length: number): string =>
  [...text.repeat(Math.ceil(length / Math.max([...text].length, 1)))].slice(-length).join("");
/** One long line; many lines; and both, where each text announces what never comes, so that the next one is read too. */
const logsOf = (opening: string): string[] =>
  [fill(opening, LOG_LENGTH), fill(`${opening}\n`, LOG_LENGTH)].flatMap((log) => [
    log,
    `${log.slice(0, -20)}\n traceback:\n`,
  ]);

const { sql } = useDatabase();
type Call = { call: string; texts: number };
let calls: Call[] = [];

beforeAll(async () => {
  await sql.unsafe(`
    create function pg_temp.too_costly(call text, plain text, texts text[]) returns setof text language plpgsql as $$
    declare
      hostile text;
      most interval;
      began timestamptz;
    begin
      foreach hostile in array texts loop
        for attempt in 0..${ATTEMPTS} loop
          if most is null or attempt > 0 then
            began := clock_timestamp();
            for number in 1..${MOST_TIMES_PLAIN} loop
              execute 'select count(answer::text) from ' || call || ' as answer' using plain;
            end loop;
            most := clock_timestamp() - began;
          end if;
          began := clock_timestamp();
          execute 'select count(answer::text) from ' || call || ' as answer' using hostile;
          exit when clock_timestamp() - began <= most;
          if attempt = ${ATTEMPTS} then return next hostile; end if;
        end loop;
      end loop;
    end $$`);
  // Each function of a report that takes a text, with all its switches.
  calls = [
    ...(await sql<Call[]>`
      select format('%s(%s)', oid::regproc, string_agg(case type when 'text'::regtype then '$1' when 'bool'::regtype then switch
        else 'null::' || type::regtype end, ', ' order by place)) as call, count(*) filter (where type = 'text'::regtype)::int as texts
      from pg_proc, unnest(proargtypes::oid[]) with ordinality as argument (type, place), (values ('true'), ('false')) as switches (switch)
      where pronamespace in ('report'::regnamespace, 'rollup'::regnamespace) and 'text'::regtype = any (proargtypes::oid[])
      group by oid, switch order by 1`),
  ].filter(({ call }, index, all) => all.findIndex((other) => other.call === call) === index);
  expect(calls.map(({ call }) => call)).toEqual(
    expect.arrayContaining(["rollup.locate_error($1, $1, $1, $1)", "rollup.error_template($1, true)"]),
  );
});

/** Which texts cost a call more than ten calls with a plain text, at each of several tries: a busy machine delays both. */
async function findTooCostly({ call, texts }: Call, hostile: readonly string[]): Promise<string[]> {
  const plain = texts > 1 ? PLAIN_LOG.slice(0, LOG_LENGTH) : fill(PLAIN_LINE, LINE_LENGTH);
  const found = await sql<
    { text: string }[]
  >`select pg_temp.too_costly(${call}, ${plain}, ${hostile}) as text`;
  return found.map(({ text }) => `${call}: ${JSON.stringify(text.slice(-40))}`);
}

async function findAllTooCostly(lines: readonly string[], logs: readonly string[]): Promise<string[]> {
  const found: string[][] = [];
  for (const call of calls) found.push(await findTooCostly(call, call.texts > 1 ? logs : lines));
  return found.flat();
}

describe("a hostile text", () => {
  test("costs at most ten times what a plain one costs, in each function that reads it", async () => {
    const lines = OPENINGS.map((opening) => fill(opening, LINE_LENGTH));
    expect(await findAllTooCostly(lines, LOG_OPENINGS.flatMap(logsOf))).toEqual([]);
  });

  test("costs no more where openings are mixed", { tags: ["long"] }, async () => {
    const mix = (from: readonly string[], at: number) =>
      [7, 11, 13]
        .slice(0, 2 + (at % 2))
        .map((step) => from[(at * step + step) % from.length])
        .join(at % 3 === 0 ? " " : "");
    const mixed = Array.from({ length: 100 }, (_, at) => at);
    const lines = mixed.map((at) => fill(mix(OPENINGS, at), LINE_LENGTH));
    expect(
      await findAllTooCostly(
        lines,
        mixed.flatMap((at) => logsOf(mix(LOG_OPENINGS, at))),
      ),
    ).toEqual([]);
  });
});
