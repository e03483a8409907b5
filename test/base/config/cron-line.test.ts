import { validate } from "node-cron";
import { describe, expect, it } from "vitest";
import { findCronFaults, normalizeCron } from "../../../src/base/config/cron-line.ts";

const GOOD = [
  ...[
    "17 2 * * *",
    "0 17 2 * * *",
    "  17\t2  * * * ",
    "*/15 2-4 * * mon",
    "0,30 22-2 * jan,December Fri-Mon",
  ],
  ...["0-59/7 0 1,15 */2 0-7", "0 0 29 2 *", "0 0 L * *", "0 0 15W * *", "0 0 * * 1#2", "0 0 ? * 5L"],
  ...["0 3 1,15 * 1", "0 3 8 * 0", "0 3 */2 * *", "0 3 ? * */2", "@daily", "@Midnight"],
];

describe("findCronFaults", () => {
  it.each(GOOD)("finds none in %j, which node-cron takes", (line) => {
    expect(findCronFaults(line)).toEqual([]);
    expect(validate(normalizeCron(line))).toBe(true);
  });

  it.each([
    ["61 2 * * *", "minute 61 is not within 0 to 59"],
    ["0 24 * * *", "hour 24 is not within 0 to 23"],
    ["0 0 0 * *", "day 0 is not within 1 to 31"],
    ["0 0 32 * *", "day 32 is not within 1 to 31"],
    ["0 0 * 13 *", "month 13 is not within 1 to 12"],
    ["0 0 * * 8", "weekday 8 is not within 0 to 7"],
    ["60 0 0 * * *", "second 60 is not within 0 to 59"],
    ["-1 0 * * *", "minute -1 is not within 0 to 59"],
    ["0,10,70 0 * * *", "minute 70 is not within 0 to 59"],
    ["50-70 0 * * *", "minute 70 is not within 0 to 59"],
    ["0-99999999999 0 * * *", "minute 99999999999 is not within 0 to 59"],
    ["x 0 * * *", "minute x is not within 0 to 59"],
    ["1-2-3 0 * * *", "minute 1-2-3 is not within 0 to 59"],
    ["0 0 * foo *", "month foo is not within 1 to 12, nor a name such as jan"],
    ["0 0 * * funday", "weekday funday is not within 0 to 7, nor a name such as mon"],
    ["0 0 * * 1#6", "weekday 1#6 is not within 0 to 7, nor a name such as mon"],
    ["*/0 * * * *", "step 0 of the minute is not within 1 to 59"],
    ["*/60 * * * *", "step 60 of the minute is not within 1 to 59"],
    ["* */24 * * *", "step 24 of the hour is not within 1 to 23"],
    ["*/ * * * *", "step '' of the minute is not within 1 to 59"],
    ["*/-5 * * * *", "step -5 of the minute is not within 1 to 59"],
    ["5/10 * * * *", "minute 5/10 has a step without a range: write 5-59/10"],
    ["1,,2 * * * *", "the list of minutes has an empty entry"],
    ["1, * * * *", "the list of minutes has an empty entry"],
    ["0 0 31 2 *", "none of its months has a day 31"],
    ["0 0 31 4,jun *", "none of its months has a day 31"],
    ["1.5 * * * *", '. is not allowed in it; it needs five fields, minute to weekday, such as "17 2 * * *"'],
    ["* * * *", 'it has 4 fields; it needs five fields, minute to weekday, such as "17 2 * * *"'],
    ["nightly", 'it has one field; it needs five fields, minute to weekday, such as "17 2 * * *"'],
    ["* * * * * * *", 'it has 7 fields; it needs five fields, minute to weekday, such as "17 2 * * *"'],
    ["@dayly", "there is no @dayly; write @hourly, @daily, @weekly, @monthly or @yearly"],
  ])("%j: %s", (line, fault) => {
    expect(findCronFaults(line)).toEqual([fault]);
  });

  it.each([
    ["0 3 */2 * 1", "*/2", "1-31"],
    ["0 3 1 * */2", "*/2", "0-6"],
    ["0 3 *,1 * 2", "*,1", "1-31"],
    ["0 3 1,* * 2", "1,*", "1-31"],
    ["0 0 3 */2 * mon", "*/2", "1-31"],
  ])("refuses %j, which crons read in two ways", (line, field, range) => {
    expect(findCronFaults(line)).toEqual([
      `crons read ${field} beside another day field in two ways: write ${range} for its star, which is due on either, or give one of the two fields`,
    ]);
  });

  it("names every field at fault", () => {
    const faults = ["minute 61 is not within 0 to 59", "hour 24 is not within 0 to 23"];
    expect(findCronFaults("61 24 * * 9")).toEqual([...faults, "weekday 9 is not within 0 to 7"]);
  });
});
