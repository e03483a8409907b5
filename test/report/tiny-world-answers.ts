/** Every answer about the tiny world, computed by hand: arithmetic on tiny-world.ts and on nothing else. `·` is null. */
import type { Modelled } from "./model.ts";

/** Tables of one relation tell of the same rows. By time only days and weeks with builds are listed. */
export const HAND_COMPUTED: Record<Modelled, readonly string[]> = {
  fact_builds: [
    `build_id | reference                               | is_dated_ahead
     1        | ·                                       | false
     11       | /api/v1/project/90/ /api/v1/version/900/ | false
     12       | /api/v1/project/90/ /api/v1/version/901/ | false
     24       | ·                                       | true`,
    `build_id | project_id | project_slug | project_name | version_id | version_slug | version_name | type   | state     | outcome       | succeeded | failed
     1        | 1          | pip          | Pip          | 11         | latest       | latest       | html   | finished  | succeeded     | 1         | 0
     2        | 1          | pip          | Pip          | 11         | latest       | latest       | html   | finished  | failed        | 0         | 1
     3        | 1          | pip          | Pip          | 11         | latest       | latest       | html   | finished  | failed        | 0         | 1
     4        | 1          | pip          | Pip          | 11         | latest       | latest       | html   | finished  | succeeded     | 1         | 0
     5        | 1          | pip          | Pip          | 11         | latest       | latest       | html   | finished  | failed        | 0         | 1
     6        | 1          | pip          | Pip          | 11         | latest       | latest       | html   | finished  | succeeded     | 1         | 0
     7        | 1          | pip          | Pip          | 11         | latest       | latest       | html   | finished  | failed        | 0         | 1
     8        | 1          | pip          | Pip          | 11         | latest       | latest       | html   | finished  | failed        | 0         | 1
     9        | 1          | pip          | Pip          | 11         | latest       | latest       | pdf    | finished  | failed        | 0         | 1
     10       | 1          | pip          | Pip          | 11         | latest       | latest       | pdf    | finished  | succeeded     | 1         | 0
     11       | -1         | (unknown)    | (unknown)    | -1         | (unknown)    | (unknown)    | (none) | finished  | succeeded     | 1         | 0
     12       | -1         | (unknown)    | (unknown)    | -1         | (unknown)    | (unknown)    | (none) | finished  | failed        | 0         | 1
     13       | 2          | 2            | 2            | 21         | latest       | trunk        | html   | finished  | succeeded     | 1         | 0
     14       | 2          | 2            | 2            | 21         | latest       | trunk        | html   | finished  | failed        | 0         | 1
     15       | 2          | 2            | 2            | 21         | latest       | trunk        | html   | finished  | succeeded     | 1         | 0
     16       | 2          | 2            | 2            | 21         | latest       | trunk        | html   | finished  | unknown_state | ·         | ·
     17       | 2          | 2            | 2            | 21         | latest       | trunk        | html   | building  | open          | ·         | ·
     18       | 2          | 2            | 2            | 21         | latest       | trunk        | html   | cloning   | open          | ·         | ·
     19       | 2          | 2            | 2            | 21         | latest       | trunk        | html   | building  | stuck         | ·         | ·
     20       | 2          | 2            | 2            | 21         | latest       | trunk        | html   | triggered | vanished      | ·         | ·
     21       | 2          | 2            | 2            | 21         | latest       | trunk        | html   | building  | vanished      | ·         | ·
     22       | 3          | gone         | gone         | 31         | 31           | main         | html   | finished  | failed        | 0         | 1
     23       | 1          | pip          | Pip          | 12         | stable       | Stable 1.0   | html   | finished  | failed        | 0         | 1
     24       | 2          | 2            | 2            | 21         | latest       | trunk        | html   | finished  | succeeded     | 1         | 0
     25       | 2          | 2            | 2            | 21         | latest       | trunk        | epub   | finished  | succeeded     | 1         | 0
     26       | 2          | 2            | 2            | 21         | latest       | trunk        | html   | uploading | stuck         | ·         | ·
     27       | 1          | pip          | Pip          | 12         | stable       | Stable 1.0   | html   | finished  | succeeded     | 1         | 0
     28       | 1          | pip          | Pip          | 12         | stable       | Stable 1.0   | html   | finished  | failed        | 0         | 1
     29       | 2          | 2            | 2            | 21         | latest       | trunk        | html   | triggered | open          | ·         | ·
     30       | 2          | 2            | 2            | 21         | latest       | trunk        | html   | triggered | stuck         | ·         | ·`,
    // Chicago's 01:30 of 2024-11-03 comes twice and means the later one, its 02:30 of 2024-03-10 never came and is read by the clock before it.
    // Only 4 was seen at work and after: work began 50 to 120 s after its trigger. Where no work was seen, all of the time before the last sight of
    // `triggered` was waiting, and what is after may be either. 20, 29 and 30 were seen in `triggered` alone. No build is html of pip's stable.
    `build_id | triggered_at             | triggered_on | triggered_week | triggered_iso_week | triggered_month | is_time_ambiguous | queued_s_min | queued_s_max | building_s_min | building_s_max
     1        | 2024-12-30 06:00:00+00   | 2024-12-30   | 2024-12-30     | 2025-W01           | 2024-12         | false             | 120          | 180          | 0              | 40
     2        | 2024-12-31 00:30:00+00   | 2024-12-31   | 2024-12-30     | 2025-W01           | 2024-12         | false             | 0            | 3600         | 0              | 3600
     3        | 2025-01-01 00:00:00+00   | 2025-01-01   | 2024-12-30     | 2025-W01           | 2025-01         | false             | 300          | 400          | 0              | 40
     4        | 2025-01-01 12:00:00+00   | 2025-01-01   | 2024-12-30     | 2025-W01           | 2025-01         | false             | 50           | 120          | 480            | 840
     5        | 2025-01-02 06:00:00+00   | 2025-01-02   | 2024-12-30     | 2025-W01           | 2025-01         | false             | 3580         | 7200         | 0              | 3600
     6        | 2025-01-02 06:10:00+00   | 2025-01-02   | 2024-12-30     | 2025-W01           | 2025-01         | false             | 580          | 1200         | 0              | 600
     7        | 2025-01-08 02:00:00+00   | 2025-01-08   | 2025-01-06     | 2025-W02           | 2025-01         | false             | 240          | 600          | 0              | 300
     8        | 2025-01-09 03:00:00+00   | 2025-01-09   | 2025-01-06     | 2025-W02           | 2025-01         | false             | 210          | 600          | 0              | 360
     9        | 2025-01-02 12:00:00+00   | 2025-01-02   | 2024-12-30     | 2025-W01           | 2025-01         | false             | 0            | ·            | 0              | ·
     10       | 2025-01-02 12:00:00+00   | 2025-01-02   | 2024-12-30     | 2025-W01           | 2025-01         | false             | 0            | 3600         | 0              | 3600
     11       | ·                        | ·            | ·              | ·                  | ·               | false             | 0            | ·            | 0              | ·
     12       | 2025-01-03 00:00:00+00   | 2025-01-03   | 2024-12-30     | 2025-W01           | 2025-01         | false             | 0            | 50           | 0              | 50
     13       | 2024-11-03 07:30:00+00   | 2024-11-03   | 2024-10-28     | 2024-W44           | 2024-11         | true              | 600          | 5400         | 0              | 600
     14       | 2024-03-10 08:30:00+00   | 2024-03-10   | 2024-03-04     | 2024-W10           | 2024-03         | true              | 0            | 5400         | 0              | 5400
     15       | 2025-01-06 12:00:00+00   | 2025-01-06   | 2025-01-06     | 2025-W02           | 2025-01         | false             | 120          | 330          | 0              | 60
     16       | 2025-01-06 12:10:00+00   | 2025-01-06   | 2025-01-06     | 2025-W02           | 2025-01         | false             | 100          | 150          | 0              | 30
     17       | 2025-01-09 05:00:00+00   | 2025-01-09   | 2025-01-06     | 2025-W02           | 2025-01         | false             | 0            | 3541         | ·              | ·
     18       | 2025-01-08 11:30:00+00   | 2025-01-08   | 2025-01-06     | 2025-W02           | 2025-01         | false             | 0            | 1801         | ·              | ·
     19       | 2025-01-07 00:00:00+00   | 2025-01-07   | 2025-01-06     | 2025-W02           | 2025-01         | false             | 0            | 60           | ·              | ·
     20       | 2025-01-07 01:00:00+00   | 2025-01-07   | 2025-01-06     | 2025-W02           | 2025-01         | false             | ·            | ·            | ·              | ·
     21       | 2025-01-07 02:00:00+00   | 2025-01-07   | 2025-01-06     | 2025-W02           | 2025-01         | false             | 0            | 60           | ·              | ·
     22       | 2025-01-05 23:00:00+00   | 2025-01-05   | 2024-12-30     | 2025-W01           | 2025-01         | false             | 0            | 40           | 0              | 40
     23       | 2025-01-06 00:00:00+00   | 2025-01-06   | 2025-01-06     | 2025-W02           | 2025-01         | false             | 0            | 600          | 0              | 600
     24       | ·                        | ·            | ·              | ·                  | ·               | false             | 0            | ·            | 0              | ·
     25       | 2025-01-10 01:00:00+00   | 2025-01-10   | 2025-01-06     | 2025-W02           | 2025-01         | false             | 0            | 7200         | 0              | 7200
     26       | 2025-01-04 00:00:00+00   | 2025-01-04   | 2024-12-30     | 2025-W01           | 2025-01         | false             | 0            | 1800         | ·              | ·
     27       | 2024-12-29 23:59:59.5+00 | 2024-12-29   | 2024-12-23     | 2024-W52           | 2024-12         | false             | 10.25        | 31.25        | 0              | 10.5
     28       | 2025-01-06 01:00:00+00   | 2025-01-06   | 2025-01-06     | 2025-W02           | 2025-01         | false             | 0            | 60           | 0              | 60
     29       | 2025-01-09 12:00:00+00   | 2025-01-09   | 2025-01-06     | 2025-W02           | 2025-01         | false             | ·            | ·            | ·              | ·
     30       | ·                        | ·            | ·              | ·                  | ·               | false             | ·            | ·            | ·              | ·`,
    // From the first sight to the lower bound of the finish at least, from the first lower bound to the first sight of the finish at most. One number is
    // told up to 60 s or a quarter apart: builds 3 (100 s of 400 s) and 28 (60 s) just are.
    // 13 was triggered at 06:30 or later, whichever of the two 01:30 its date means. 15 is of a service whose clock is up to 90 s ahead. 16 has finished
    // without a word on success, and took its time all the same.
    `build_id | finished_after            | finished_before           | duration_s_min | duration_s_max | duration_s
     1        | 2024-12-30 06:02:20+00    | 2024-12-30 06:03:00+00    | 120            | 180            | 150
     2        | 2024-12-31 00:30:00+00    | 2024-12-31 01:30:00+00    | 0              | 3600           | ·
     3        | 2025-01-01 00:06:00+00    | 2025-01-01 00:06:40+00    | 300            | 400            | 350
     4        | 2025-01-01 12:10:00+00    | 2025-01-01 12:15:00+00    | 590            | 900            | ·
     5        | 2025-01-02 07:00:00+00    | 2025-01-02 08:00:00+00    | 3580           | 7200           | ·
     6        | 2025-01-02 06:20:00+00    | 2025-01-02 06:30:00+00    | 580            | 1200           | ·
     7        | 2025-01-08 02:05:00+00    | 2025-01-08 02:10:00+00    | 240            | 600            | ·
     8        | 2025-01-09 03:04:00+00    | 2025-01-09 03:10:00+00    | 210            | 600            | ·
     9        | ·                         | 2025-01-02 12:30:00+00    | 0              | ·              | ·
     10       | 2025-01-02 12:00:00+00    | 2025-01-02 13:00:00+00    | 0              | 3600           | ·
     11       | ·                         | 2025-01-02 13:00:00+00    | 0              | ·              | ·
     12       | 2025-01-03 00:00:00+00    | 2025-01-03 00:00:50+00    | 0              | 50             | 25
     13       | 2024-11-03 07:50:00+00    | 2024-11-03 08:00:00+00    | 600            | 5400           | ·
     14       | 2024-03-10 07:30:00+00    | 2024-03-10 09:00:00+00    | 0              | 5400           | ·
     15       | 2025-01-06 12:03:00+00    | 2025-01-06 12:04:00+00    | 120            | 330            | ·
     16       | 2025-01-06 12:12:00+00    | 2025-01-06 12:12:30+00    | 100            | 150            | 125
     17       | ·                         | ·                         | ·              | ·              | ·
     18       | ·                         | ·                         | ·              | ·              | ·
     19       | ·                         | ·                         | ·              | ·              | ·
     20       | ·                         | ·                         | ·              | ·              | ·
     21       | ·                         | ·                         | ·              | ·              | ·
     22       | 2025-01-05 23:00:00+00    | 2025-01-05 23:00:40+00    | 0              | 40             | 20
     23       | 2025-01-06 00:00:00+00    | 2025-01-06 00:10:00+00    | 0              | 600            | ·
     24       | ·                         | 2025-01-09 06:00:00+00    | 0              | ·              | ·
     25       | 2025-01-10 01:00:00+00    | 2025-01-10 03:00:00+00    | 0              | 7200           | ·
     26       | ·                         | ·                         | ·              | ·              | ·
     27       | 2024-12-30 00:00:20.25+00 | 2024-12-30 00:00:30.75+00 | 10.25          | 31.25          | 20.75
     28       | 2025-01-06 01:00:00+00    | 2025-01-06 01:01:00+00    | 0              | 60             | 30`,
    `build_id | error_class  | error_line                                              | first_seen_at          | deleted_at
     1        | ·            | ·                                                       | 2024-12-30 06:00:20+00 | ·
     2        | dependency   | ERROR: No matching distribution found for sphinx==1.2.3 | 2024-12-31 01:30:00+00 | ·
     3        | memory       | Killed                                                  | 2025-01-01 00:01:00+00 | ·
     5        | unclassified | make: *** [html] stopped after 7 s                      | 2025-01-02 06:00:20+00 | ·
     7        | unclassified | make: *** [html] stopped after 12 s                     | 2025-01-08 02:01:00+00 | ·
     8        | unclassified | ·                                                       | 2025-01-09 03:00:30+00 | ·
     9        | unclassified | make: *** [html] stopped after 9 s                      | 2025-01-02 12:30:00+00 | ·
     12       | memory       | killed                                                  | 2025-01-03 00:00:50+00 | ·
     14       | dependency   | ERROR: No matching distribution found for sphinx==20.0  | 2024-03-10 09:00:00+00 | ·
     16       | ·            | ·                                                       | 2025-01-06 12:10:20+00 | ·
     19       | ·            | ·                                                       | 2025-01-07 00:01:00+00 | ·
     22       | dependency   | ERROR: No matching distribution found for sphinx==4.5.6 | 2025-01-05 23:00:40+00 | 2025-01-08 12:00:00+00
     23       | memory       | Killed                                                  | 2025-01-06 00:10:00+00 | ·
     28       | unclassified | make: *** [html] stopped after 100 s                    | 2025-01-06 01:01:00+00 | ·`,
  ],

  // Wilson's bounds: of one build 3.8416 / 4.8416 and 1 / 4.8416, of two the halves of (2 ± 1.96 √(1 + 0.9604) ...), worked out to twelve places.
  // The eighth is not complete for build 18, the ninth because it was not over yet when the list was read. Of what
  // was not covered only builds 24 and 25 are known.
  success_rate_daily: [
    `day        | builds | finished | succeeded | failed | success_rate | success_rate_low | success_rate_high | success_rate_project_mean | projects | unfinished | is_complete | is_covered | stuck | cancelled
     2024-03-10 | 1      | 1        | 0         | 1      | 0            | 0                | 0.793456708526    | 0                         | 1        | 0          | false       | true | 0 | 0
     2024-11-03 | 1      | 1        | 1         | 0      | 1            | 0.206543291474   | 1                 | 1                         | 1        | 0          | true        | true | 0 | 0
     2024-12-29 | 1      | 1        | 1         | 0      | 1            | 0.206543291474   | 1                 | 1                         | 1        | 0          | true        | true | 0 | 0
     2024-12-30 | 1      | 1        | 1         | 0      | 1            | 0.206543291474   | 1                 | 1                         | 1        | 0          | true        | true | 0 | 0
     2024-12-31 | 1      | 1        | 0         | 1      | 0            | 0                | 0.793456708526    | 0                         | 1        | 0          | true        | true | 0 | 0
     2025-01-01 | 2      | 2        | 1         | 1      | 1/2          | 0.094528654801   | 0.905471345199    | 1/2                       | 1        | 0          | true        | true | 0 | 0
     2025-01-02 | 4      | 4        | 2         | 2      | 1/2          | 0.150035708820   | 0.849964291180    | 1/2                       | 1        | 0          | true        | true | 0 | 0
     2025-01-03 | 1      | 1        | 0         | 1      | 0            | 0                | 0.793456708526    | ·                         | 0        | 0          | true        | true | 0 | 0
     2025-01-04 | 1      | 0        | 0         | 0      | ·            | ·                | ·                 | ·                         | 1        | 1          | true        | true | 1 | 0
     2025-01-05 | 1      | 1        | 0         | 1      | 0            | 0                | 0.793456708526    | 0                         | 1        | 0          | true        | true | 0 | 0
     2025-01-06 | 4      | 3        | 1         | 2      | 1/3          | 0.061490315276   | 0.792345044874    | 1/2                       | 2        | 1          | true        | true | 0 | 0
     2025-01-07 | 3      | 0        | 0         | 0      | ·            | ·                | ·                 | ·                         | 1        | 3          | true        | true | 1 | 0
     2025-01-08 | 2      | 1        | 0         | 1      | 0            | 0                | 0.793456708526    | 0                         | 2        | 1          | false       | true | 0 | 0
     2025-01-09 | 3      | 1        | 0         | 1      | 0            | 0                | 0.793456708526    | 0                         | 2        | 2          | false       | true | 0 | 0
     2025-01-10 | 1      | 1        | 1         | 0      | 1            | 0.206543291474   | 1                 | 1                         | 1        | 0          | false       | false | 0 | 0`,
  ],
  success_rate_daily_by_project: [
    `day        | project_id | project_slug | builds | finished | succeeded | failed | success_rate | success_rate_low | success_rate_high | unfinished | is_complete | is_covered | stuck | cancelled
     2024-12-29 | 1          | pip          | 1      | 1        | 1         | 0      | 1            | 0.206543291474   | 1                 | 0          | true        | true | 0 | 0
     2024-12-30 | 1          | pip          | 1      | 1        | 1         | 0      | 1            | 0.206543291474   | 1                 | 0          | true        | true | 0 | 0
     2024-12-31 | 1          | pip          | 1      | 1        | 0         | 1      | 0            | 0                | 0.793456708526    | 0          | true        | true | 0 | 0
     2025-01-01 | 1          | pip          | 2      | 2        | 1         | 1      | 1/2          | 0.094528654801   | 0.905471345199    | 0          | true        | true | 0 | 0
     2025-01-02 | 1          | pip          | 4      | 4        | 2         | 2      | 1/2          | 0.150035708820   | 0.849964291180    | 0          | true        | true | 0 | 0
     2025-01-06 | 1          | pip          | 2      | 2        | 0         | 2      | 0            | 0                | 0.657628047110    | 0          | true        | true | 0 | 0
     2025-01-08 | 1          | pip          | 1      | 1        | 0         | 1      | 0            | 0                | 0.793456708526    | 0          | true        | true | 0 | 0
     2025-01-09 | 1          | pip          | 1      | 1        | 0         | 1      | 0            | 0                | 0.793456708526    | 0          | false       | true | 0 | 0
     2024-03-10 | 2          | 2            | 1      | 1        | 0         | 1      | 0            | 0                | 0.793456708526    | 0          | false       | true | 0 | 0
     2024-11-03 | 2          | 2            | 1      | 1        | 1         | 0      | 1            | 0.206543291474   | 1                 | 0          | true        | true | 0 | 0
     2025-01-04 | 2          | 2            | 1      | 0        | 0         | 0      | ·            | ·                | ·                 | 1          | true        | true | 1 | 0
     2025-01-06 | 2          | 2            | 2      | 1        | 1         | 0      | 1            | 0.206543291474   | 1                 | 1          | true        | true | 0 | 0
     2025-01-07 | 2          | 2            | 3      | 0        | 0         | 0      | ·            | ·                | ·                 | 3          | true        | true | 1 | 0
     2025-01-08 | 2          | 2            | 1      | 0        | 0         | 0      | ·            | ·                | ·                 | 1          | false       | true | 0 | 0
     2025-01-09 | 2          | 2            | 2      | 0        | 0         | 0      | ·            | ·                | ·                 | 2          | false       | true | 0 | 0
     2025-01-10 | 2          | 2            | 1      | 1        | 1         | 0      | 1            | 0.206543291474   | 1                 | 0          | false       | false | 0 | 0
     2025-01-05 | 3          | gone         | 1      | 1        | 0         | 1      | 0            | 0                | 0.793456708526    | 0          | true        | true | 0 | 0
     2025-01-03 | -1         | (unknown)    | 1      | 1        | 0         | 1      | 0            | 0                | 0.793456708526    | 0          | true        | true | 0 | 0`,
  ],
  // The builds of days that are not covered and build 11, which has no date, count here.
  success_rate_by_project: [
    `project_id | project_slug | builds | finished | succeeded | failed | success_rate | success_rate_low | success_rate_high | unfinished | versions | first_triggered_at       | last_triggered_at | cancelled
     1          | pip          | 13     | 13       | 5         | 8      | 5/13         | 0.177094465812   | 0.644775190277    | 0          | 2        | 2024-12-29 23:59:59.5+00 | 2025-01-09 03:00:00+00 | 0
     2          | 2            | 14     | 5        | 4         | 1      | 4/5          | 0.375528264119   | 0.963776839030    | 9          | 1        | 2024-03-10 08:30:00+00   | 2025-01-10 01:00:00+00 | 0
     3          | gone         | 1      | 1        | 0         | 1      | 0            | 0                | 0.793456708526    | 0          | 1        | 2025-01-05 23:00:00+00   | 2025-01-05 23:00:00+00 | 0
     -1         | (unknown)    | 2      | 2        | 1         | 1      | 1/2          | 0.094528654801   | 0.905471345199    | 0          | 0        | 2025-01-03 00:00:00+00   | 2025-01-03 00:00:00+00 | 0`,
  ],
  // Of html pip has 4 of 11, project 2 has 3 of 4, `gone` 0 of 1: (4/11 + 3/4 + 0) / 3 = 49/132.
  success_rate_by_type: [
    `type   | builds | finished | succeeded | failed | success_rate | success_rate_low | success_rate_high | success_rate_project_mean | projects | unfinished | cancelled
     html   | 25     | 16       | 7         | 9      | 7/16         | 0.230983633352   | 0.668218043932    | 49/132                    | 3        | 9 | 0
     pdf    | 2      | 2        | 1         | 1      | 1/2          | 0.094528654801   | 0.905471345199    | 1/2                       | 1        | 0 | 0
     epub   | 1      | 1        | 1         | 0      | 1            | 0.206543291474   | 1                 | 1                         | 1        | 0 | 0
     (none) | 2      | 2        | 1         | 1      | 1/2          | 0.094528654801   | 0.905471345199    | ·                         | 0        | 0 | 0`,
  ],
  // 2025-01-01: 300 and 590 s at least, 90 % of the way between is 561; 400 and 900 at most: 850.
  // 2025-01-02: 0, 0, 580, 3580 at least: the median 290, 70 % from 580 to 3580 is 2680, 85 % is 3130; 1200, 3600, 7200 and unknown at most.
  // 2025-01-06: 0, 0, 100, 120 at least, 60, 150, 330, 600 at most: 100 + 0.7 × 20, 100 + 0.85 × 20, 330 + 0.7 × 270, 330 + 0.85 × 270.
  build_times_daily: [
    `day        | finished | p50_s_min | p50_s_max | p90_s_min | p90_s_max | p95_s_min | p95_s_max | is_complete | is_covered
     2024-03-10 | 1        | 0         | 5400      | 0         | 5400      | 0         | 5400      | false       | true
     2024-11-03 | 1        | 600       | 5400      | 600       | 5400      | 600       | 5400      | true        | true
     2024-12-29 | 1        | 10.25     | 31.25     | 10.25     | 31.25     | 10.25     | 31.25     | true        | true
     2024-12-30 | 1        | 120       | 180       | 120       | 180       | 120       | 180       | true        | true
     2024-12-31 | 1        | 0         | 3600      | 0         | 3600      | 0         | 3600      | true        | true
     2025-01-01 | 2        | 445       | 650       | 561       | 850       | 575.5     | 875       | true        | true
     2025-01-02 | 4        | 290       | 5400      | 2680      | ·         | 3130      | ·         | true        | true
     2025-01-03 | 1        | 0         | 50        | 0         | 50        | 0         | 50        | true        | true
     2025-01-04 | 0        | ·         | ·         | ·         | ·         | ·         | ·         | true        | true
     2025-01-05 | 1        | 0         | 40        | 0         | 40        | 0         | 40        | true        | true
     2025-01-06 | 4        | 50        | 240       | 114       | 519       | 117       | 559.5     | true        | true
     2025-01-07 | 0        | ·         | ·         | ·         | ·         | ·         | ·         | true        | true
     2025-01-08 | 1        | 240       | 600       | 240       | 600       | 240       | 600       | false       | true
     2025-01-09 | 1        | 210       | 600       | 210       | 600       | 210       | 600       | false       | true
     2025-01-10 | 1        | 0         | 7200      | 0         | 7200      | 0         | 7200      | false       | false`,
    // A minute apart is more than a tenth of three.
    `day        | p50_s | p90_s | p95_s
     2024-12-30 | ·     | ·     | ·
     2025-01-01 | ·     | ·     | ·
     2025-01-04 | ·     | ·     | ·
     2025-01-10 | ·     | ·     | ·`,
  ],
  // The version of builds 23 and 28 is gone, and so is the project of build 22; builds 9 and 10 have one date, and 10 is the later one.
  failing_now: [
    `project_id | project_slug | version_id | version_slug | type   | failures | failing_since          | first_failed_build_id | last_failed_at         | last_failed_build_id | last_succeeded_at      | last_succeeded_build_id | error_class  | error_line
     1          | pip          | 11         | latest       | html   | 2        | 2025-01-08 02:00:00+00 | 7                     | 2025-01-09 03:00:00+00 | 8                    | 2025-01-02 06:10:00+00 | 6                       | unclassified | ·
     -1         | (unknown)    | -1         | (unknown)    | (none) | 1        | 2025-01-03 00:00:00+00 | 12                    | 2025-01-03 00:00:00+00 | 12                   | ·                      | ·                       | memory       | killed`,
    // pip's default version is stable, which is gone; latest was last built by build 8.
    `first_failed_build_id | is_default_version | is_main | is_active | last_built_at          | reference
     7                     | false              | false   | true      | 2025-01-09 03:00:00+00 | ·
     12                    | false              | false   | ·         | 2025-01-03 00:00:00+00 | /api/v1/project/90/ /api/v1/version/901/`,
  ],
  failing_projects: [
    `project_id | project_slug | version_id | version_slug | type   | is_main | failures | failing_since          | first_failed_build_id | last_failed_at         | last_failed_build_id
     1          | pip          | 11         | latest       | html   | false   | 2        | 2025-01-08 02:00:00+00 | 7                     | 2025-01-09 03:00:00+00 | 8
     -1         | (unknown)    | -1         | (unknown)    | (none) | false   | 1        | 2025-01-03 00:00:00+00 | 12                    | 2025-01-03 00:00:00+00 | 12`,
    `project_id | last_succeeded_at      | last_succeeded_build_id | error_class  | error_line | failing | is_main_failing | main_failing_since | worked_before
     1          | 2025-01-02 06:10:00+00 | 6                       | unclassified | ·              | 1       | false           | ·                  | true
     -1         | ·                      | ·                       | memory       | killed         | 1       | false           | ·                  | false`,
    `project_id | newest_failing_since
     1          | 2025-01-08 02:00:00+00
     -1         | 2025-01-03 00:00:00+00`,
  ],
  // pip's stable is gone, so only its latest counts as failing; the third project is gone, and an unknown one is none.
  project_states: [
    `project_id | project_slug | project_name | state   | failing | failing_since          | main_failing_since | stuck | builds | finished | succeeded | failed | success_rate | success_rate_low | success_rate_high | last_triggered_at
     1          | pip          | Pip          | failing | 1       | 2025-01-08 02:00:00+00 | ·                  | 0     | 13     | 13       | 5         | 8      | 5/13         | 0.177094465812   | 0.644775190277    | 2025-01-09 03:00:00+00
     2          | 2            | 2            | good    | 0       | ·                      | ·                  | 3     | 14     | 5        | 4         | 1      | 4/5          | 0.375528264119   | 0.963776839030    | 2025-01-10 01:00:00+00`,
    `project_id | newest_failing_since
     1          | 2025-01-08 02:00:00+00
     2          | ·`,
    `project_id | main_state
     1          | unknown
     2          | good`,
  ],
  // Build 2: from 12-31 01:30 to 01-01 12:10 at least, from 00:30 to 12:15 at most. Build 14: 238 days less 70 minutes, or and 30 minutes.
  // What is open lasts to 2025-01-09 06:00 at least: 27:50 h for build 7, 77:50 h for 23, 79 h less 40 s for 22, 150 h less 50 s for 12.
  // The default version of project 1 is stable, and project 2 names none, so latest.
  streaks: [
    `first_failed_build_id | project_id | project_slug | version_id | version_slug | type   | failures | broke_at               | failed_after           | failed_before          | error_class
     2                     | 1          | pip          | 11         | latest       | html   | 2        | 2024-12-31 00:30:00+00 | 2024-12-31 00:30:00+00 | 2024-12-31 01:30:00+00 | dependency
     5                     | 1          | pip          | 11         | latest       | html   | 1        | 2025-01-02 06:00:00+00 | 2025-01-02 07:00:00+00 | 2025-01-02 08:00:00+00 | unclassified
     7                     | 1          | pip          | 11         | latest       | html   | 2        | 2025-01-08 02:00:00+00 | 2025-01-08 02:05:00+00 | 2025-01-08 02:10:00+00 | unclassified
     9                     | 1          | pip          | 11         | latest       | pdf    | 1        | 2025-01-02 12:00:00+00 | ·                      | 2025-01-02 12:30:00+00 | unclassified
     23                    | 1          | pip          | 12         | stable       | html   | 2        | 2025-01-06 00:00:00+00 | 2025-01-06 00:00:00+00 | 2025-01-06 00:10:00+00 | memory
     14                    | 2          | 2            | 21         | latest       | html   | 1        | 2024-03-10 08:30:00+00 | 2024-03-10 07:30:00+00 | 2024-03-10 09:00:00+00 | dependency
     22                    | 3          | gone         | 31         | 31           | html   | 1        | 2025-01-05 23:00:00+00 | 2025-01-05 23:00:00+00 | 2025-01-05 23:00:40+00 | dependency
     12                    | -1         | (unknown)    | -1         | (unknown)    | (none) | 1        | 2025-01-03 00:00:00+00 | 2025-01-03 00:00:00+00 | 2025-01-03 00:00:50+00 | memory`,
    `first_failed_build_id | recovered_build_id | recovered_at           | recovered_after        | recovered_before       | recovery_s_min | recovery_s_max | is_open | is_overlapped | hours_to_recover | reference                                | is_main | is_deleted
     2                     | 4                  | 2025-01-01 12:00:00+00 | 2025-01-01 12:10:00+00 | 2025-01-01 12:15:00+00 | 124800         | 128700         | false   | false         | 35.5             | ·                                        | false   | false
     5                     | 6                  | 2025-01-02 06:10:00+00 | 2025-01-02 06:20:00+00 | 2025-01-02 06:30:00+00 | 0              | 0              | false   | true          | 1/6              | ·                                        | false   | false
     7                     | ·                  | ·                      | ·                      | ·                      | 100200         | ·              | true    | false         | ·                | ·                                        | false   | false
     9                     | 10                 | 2025-01-02 12:00:00+00 | 2025-01-02 12:00:00+00 | 2025-01-02 13:00:00+00 | 0              | ·              | false   | true          | 0                | ·                                        | false   | false
     23                    | ·                  | ·                      | ·                      | ·                      | 280200         | ·              | true    | false         | ·                | ·                                        | true   | true
     14                    | 13                 | 2024-11-03 07:30:00+00 | 2024-11-03 07:50:00+00 | 2024-11-03 08:00:00+00 | 20559000       | 20565000       | false   | false         | 5711             | ·                                        | true   | false
     22                    | ·                  | ·                      | ·                      | ·                      | 284360         | ·              | true    | false         | ·                | ·                                        | false   | true
     12                    | ·                  | ·                      | ·                      | ·                      | 539950         | ·              | true    | false         | ·                | /api/v1/project/90/ /api/v1/version/901/ | false   | false`,
    `first_failed_build_id | series_since
     2                     | 2024-12-30 06:00:00+00
     5                     | 2024-12-30 06:00:00+00
     7                     | 2024-12-30 06:00:00+00
     9                     | 2025-01-02 12:00:00+00
     23                    | 2024-12-29 23:59:59.5+00
     14                    | 2024-03-10 08:30:00+00
     22                    | 2025-01-05 23:00:00+00
     12                    | 2025-01-03 00:00:00+00`,
  ],
  recoveries: [
    `first_failed_build_id | recovered_build_id | is_open
     2                     | 4                  | false
     5                     | 6                  | false
     7                     | ·                  | true
     9                     | 10                 | false
     14                    | 13                 | false
     12                    | ·                  | true`,
  ],
  // From the latest repair, that of build 14 after 238 days less an hour, to build 10, which has the date of build 9. Open ones were known to be
  // broken for 28 h (7), 60 h (23, whose version was deleted then), 61 h (22, whose project was) and 150 h (12). Of all eight 7/8 go on after 0 h,
  // 6/8 after ten minutes, 6/8 × 4/5 after 35.5 h, as one was not seen for so long, and none after 5711 h.
  time_to_recover: [
    `project_id | project_slug | type   | month   | streaks | recovered | still_open | median_hours | p25_hours | p75_hours | closed_median_hours
     ·          | ·            | ·      | ·       | 8       | 4         | 4          | 5711         | 1/6       | 5711      | 1/6
     1          | pip          | ·      | ·       | 5       | 3         | 2          | 35.5         | 1/6       | ·         | 1/6
     2          | 2            | ·      | ·       | 1       | 1         | 0          | 5711         | 5711      | 5711      | 5711
     3          | gone         | ·      | ·       | 1       | 0         | 1          | ·            | ·         | ·         | ·
     -1         | (unknown)    | ·      | ·       | 1       | 0         | 1          | ·            | ·         | ·         | ·
     ·          | ·            | html   | ·       | 6       | 3         | 3          | 5711         | 35.5      | 5711      | 35.5
     ·          | ·            | pdf    | ·       | 1       | 1         | 0          | 0            | 0         | 0         | 0
     ·          | ·            | (none) | ·       | 1       | 0         | 1          | ·            | ·         | ·         | ·
     ·          | ·            | ·      | 2024-03 | 1       | 1         | 0          | 5711         | 5711      | 5711      | 5711
     ·          | ·            | ·      | 2024-12 | 1       | 1         | 0          | 35.5         | 35.5      | 35.5      | 35.5
     ·          | ·            | ·      | 2025-01 | 6       | 2         | 4          | ·            | 1/6       | ·         | 0
     ·          | ·            | html   | 2024-03 | 1       | 1         | 0          | 5711         | 5711      | 5711      | 5711
     ·          | ·            | html   | 2024-12 | 1       | 1         | 0          | 35.5         | 35.5      | 35.5      | 35.5
     ·          | ·            | html   | 2025-01 | 4       | 1         | 3          | ·            | 1/6       | ·         | 1/6
     ·          | ·            | pdf    | 2025-01 | 1       | 1         | 0          | 0            | 0         | 0         | 0
     ·          | ·            | (none) | 2025-01 | 1       | 0         | 1          | ·            | ·         | ·         | ·
     1          | pip          | html   | ·       | 4       | 2         | 2          | 35.5         | 1/6       | ·         | 1/6
     1          | pip          | pdf    | ·       | 1       | 1         | 0          | 0            | 0         | 0         | 0
     2          | 2            | html   | ·       | 1       | 1         | 0          | 5711         | 5711      | 5711      | 5711
     3          | gone         | html   | ·       | 1       | 0         | 1          | ·            | ·         | ·         | ·
     -1         | (unknown)    | (none) | ·       | 1       | 0         | 1          | ·            | ·         | ·         | ·
     1          | pip          | ·      | 2024-12 | 1       | 1         | 0          | 35.5         | 35.5      | 35.5      | 35.5
     1          | pip          | ·      | 2025-01 | 4       | 2         | 2          | 1/6          | 0         | ·         | 0
     2          | 2            | ·      | 2024-03 | 1       | 1         | 0          | 5711         | 5711      | 5711      | 5711
     3          | gone         | ·      | 2025-01 | 1       | 0         | 1          | ·            | ·         | ·         | ·
     -1         | (unknown)    | ·      | 2025-01 | 1       | 0         | 1          | ·            | ·         | ·         | ·
     1          | pip          | html   | 2024-12 | 1       | 1         | 0          | 35.5         | 35.5      | 35.5      | 35.5
     1          | pip          | html   | 2025-01 | 3       | 1         | 2          | ·            | 1/6       | ·         | 1/6
     1          | pip          | pdf    | 2025-01 | 1       | 1         | 0          | 0            | 0         | 0         | 0
     2          | 2            | html   | 2024-03 | 1       | 1         | 0          | 5711         | 5711      | 5711      | 5711
     3          | gone         | html   | 2025-01 | 1       | 0         | 1          | ·            | ·         | ·         | ·
     -1         | (unknown)    | (none) | 2025-01 | 1       | 0         | 1          | ·            | ·         | ·         | ·`,
    // All but 9, 22 and 12 had worked before: of these five 4/5 go on after ten minutes, 4/5 × 2/3 after 35.5 h.
    `project_id | type   | month   | breaks | breaks_recovered | breaks_median_hours | breaks_p25_hours
     ·          | ·      | ·       | 5      | 3                | 5711                | 35.5
     1          | ·      | ·       | 4      | 2                | 35.5                | 1/6
     2          | ·      | ·       | 1      | 1                | 5711                | 5711
     3          | ·      | ·       | 0      | 0                | ·                   | ·
     -1         | ·      | ·       | 0      | 0                | ·                   | ·
     ·          | html   | ·       | 5      | 3                | 5711                | 35.5
     ·          | pdf    | ·       | 0      | 0                | ·                   | ·
     ·          | (none) | ·       | 0      | 0                | ·                   | ·
     ·          | ·      | 2024-03 | 1      | 1                | 5711                | 5711
     ·          | ·      | 2024-12 | 1      | 1                | 35.5                | 35.5
     ·          | ·      | 2025-01 | 3      | 1                | ·                   | 1/6
     ·          | html   | 2024-03 | 1      | 1                | 5711                | 5711
     ·          | html   | 2024-12 | 1      | 1                | 35.5                | 35.5
     ·          | html   | 2025-01 | 3      | 1                | ·                   | 1/6
     ·          | pdf    | 2025-01 | 0      | 0                | ·                   | ·
     ·          | (none) | 2025-01 | 0      | 0                | ·                   | ·
     1          | html   | ·       | 4      | 2                | 35.5                | 1/6
     1          | pdf    | ·       | 0      | 0                | ·                   | ·
     2          | html   | ·       | 1      | 1                | 5711                | 5711
     3          | html   | ·       | 0      | 0                | ·                   | ·
     -1         | (none) | ·       | 0      | 0                | ·                   | ·
     1          | ·      | 2024-12 | 1      | 1                | 35.5                | 35.5
     1          | ·      | 2025-01 | 3      | 1                | ·                   | 1/6
     2          | ·      | 2024-03 | 1      | 1                | 5711                | 5711
     3          | ·      | 2025-01 | 0      | 0                | ·                   | ·
     -1         | ·      | 2025-01 | 0      | 0                | ·                   | ·
     1          | html   | 2024-12 | 1      | 1                | 35.5                | 35.5
     1          | html   | 2025-01 | 3      | 1                | ·                   | 1/6
     1          | pdf    | 2025-01 | 0      | 0                | ·                   | ·
     2          | html   | 2024-03 | 1      | 1                | 5711                | 5711
     3          | html   | 2025-01 | 0      | 0                | ·                   | ·
     -1         | (none) | 2025-01 | 0      | 0                | ·                   | ·`,
  ],
  // pip's latest went: well, failed, failed, well, failed, well, failed, failed. Of the 56 orders of three and five, 12 have five flips and 4 have
  // six. Project 2 went well before it failed: build 24 has no date that counts. One in four may fail at an end, or flip twice. Four series were
  // tried: 2/7 × 4/1, 1/2 × 4/2 and 1 are all 1 or more.
  instability: [
    `project_id | project_slug | version_id | version_slug | type   | finished | succeeded | failed | flips | flip_rate | flip_rate_by_chance | p_value | p_value_adjusted | is_flaky | reference
     1          | pip          | 11         | latest       | html   | 8        | 3         | 5      | 5     | 5/7       | 15/28               | 2/7     | 1                | false    | ·
     1          | pip          | 11         | latest       | pdf    | 2        | 1         | 1      | 1     | 1         | 1                   | 1       | 1                | false    | ·
     1          | pip          | 12         | stable       | html   | 3        | 1         | 2      | 1     | 1/2       | 2/3                 | 1       | 1                | false    | ·
     2          | 2            | 21         | latest       | html   | 4        | 3         | 1      | 2     | 2/3       | 1/2                 | 1/2     | 1                | false    | ·`,
  ],
  regressions: ["project_id | difference"],
  broke_daily: [
    `day        | broke | fixed | born_broken | projects_broke | projects_fixed | projects_born_broken | is_complete | is_covered
     2024-03-10 | 1     | 0     | 0           | 1              | 0              | 0                    | false       | true
     2024-11-03 | 0     | 1     | 0           | 0              | 1              | 0                    | true        | true
     2024-12-31 | 1     | 0     | 0           | 1              | 0              | 0                    | true        | true
     2025-01-01 | 0     | 1     | 0           | 0              | 1              | 0                    | true        | true
     2025-01-02 | 1     | 2     | 1           | 1              | 1              | 1                    | true        | true
     2025-01-03 | 0     | 0     | 1           | 0              | 0              | 0                    | true        | true
     2025-01-05 | 0     | 0     | 1           | 0              | 0              | 1                    | true        | true
     2025-01-06 | 1     | 0     | 0           | 1              | 0              | 0                    | true        | true
     2025-01-08 | 1     | 0     | 0           | 1              | 0              | 0                    | false       | true`,
  ],
  // 29 is dated later than it was first seen, 30 not at all: these are as old as their first sight.
  open_builds: [
    `build_id | project_id | project_slug | version_id | version_slug | type | state     | outcome       | triggered_at           | last_seen_at           | age_s
     17       | 2          | 2            | 21         | latest       | html | building  | open          | 2025-01-09 05:00:00+00 | 2025-01-09 05:59:00+00 | 3540
     18       | 2          | 2            | 21         | latest       | html | cloning   | open          | 2025-01-08 11:30:00+00 | 2025-01-08 12:00:00+00 | 1800
     19       | 2          | 2            | 21         | latest       | html | building  | stuck         | 2025-01-07 00:00:00+00 | 2025-01-09 06:00:00+00 | 194400
     26       | 2          | 2            | 21         | latest       | html | uploading | stuck         | 2025-01-04 00:00:00+00 | 2025-01-04 03:00:00+00 | 10800
     29       | 2          | 2            | 21         | latest       | html | triggered | open          | 2025-01-09 12:00:00+00 | 2025-01-09 05:30:00+00 | 1800
     30       | 2          | 2            | 21         | latest       | html | triggered | stuck         | ·                      | 2025-01-09 03:00:00+00 | 10800`,
  ],
  // 14 was triggered at 08:30, or an hour before, and seen finished at 09:00; 13 at 07:30, or an hour before, until 08:00. 5 was seen triggered at 06:00:20 and at 07:00, and finished at 08:00. 26, 19, 18, 17, 29 and
  // 30 may be open to the end, the others to their finish; 20 until it was gone at 05:00, and 21 until it was found deleted. 19 was last seen
  // at the end. 29 has a date after its first sighting, at 05:00; 11, 24 and 30 count from theirs.
  backlog: [
    `hour                   | open_min | open_max | is_covered
     2024-03-10 08:00:00+00 | 0        | 1        | true
     2024-03-10 09:00:00+00 | 0        | 1        | true
     2024-03-10 10:00:00+00 | 0        | 0        | true
     2024-11-03 07:00:00+00 | 0        | 1        | true
     2024-11-03 08:00:00+00 | 0        | 1        | true
     2024-12-30 00:00:00+00 | 0        | 1        | true
     2024-12-30 06:00:00+00 | 0        | 1        | true
     2024-12-31 01:00:00+00 | 0        | 1        | true
     2025-01-01 00:00:00+00 | 0        | 1        | true
     2025-01-01 12:00:00+00 | 0        | 1        | true
     2025-01-01 13:00:00+00 | 0        | 0        | true
     2025-01-02 06:00:00+00 | 0        | 1        | true
     2025-01-02 07:00:00+00 | 1        | 1        | true
     2025-01-02 08:00:00+00 | 0        | 1        | true
     2025-01-02 12:00:00+00 | 0        | 2        | true
     2025-01-02 13:00:00+00 | 0        | 2        | true
     2025-01-02 14:00:00+00 | 0        | 0        | true
     2025-01-03 00:00:00+00 | 0        | 1        | true
     2025-01-04 00:00:00+00 | 0        | 1        | true
     2025-01-04 01:00:00+00 | 1        | 1        | true
     2025-01-04 03:00:00+00 | 1        | 1        | true
     2025-01-04 04:00:00+00 | 0        | 1        | true
     2025-01-05 23:00:00+00 | 0        | 2        | true
     2025-01-06 00:00:00+00 | 0        | 2        | true
     2025-01-06 01:00:00+00 | 0        | 2        | true
     2025-01-06 12:00:00+00 | 0        | 2        | true
     2025-01-07 00:00:00+00 | 0        | 2        | true
     2025-01-07 01:00:00+00 | 1        | 3        | true
     2025-01-07 02:00:00+00 | 2        | 4        | true
     2025-01-07 04:00:00+00 | 2        | 4        | true
     2025-01-07 05:00:00+00 | 1        | 4        | true
     2025-01-07 06:00:00+00 | 1        | 3        | true
     2025-01-08 02:00:00+00 | 1        | 4        | true
     2025-01-08 11:00:00+00 | 1        | 3        | true
     2025-01-08 12:00:00+00 | 1        | 4        | true
     2025-01-08 13:00:00+00 | 1        | 3        | true
     2025-01-09 00:00:00+00 | 2        | 4        | true
     2025-01-09 03:00:00+00 | 2        | 5        | true
     2025-01-09 04:00:00+00 | 1        | 4        | true
     2025-01-09 05:00:00+00 | 2        | 6        | true
     2025-01-09 06:00:00+00 | 1        | 7        | true`,
  ],
  // The last is build 17; before it the longest gap is that from 26 to 22. Build 29 was seen seven hours before its date.
  arrivals: [
    `state   | reason | looked_at              | last_build_id | last_build_at          | gap_s | longest_gap_s | days_known | usual_since | fewest_since | most_since | builds_24h | usual_24h | fewest_24h
     unknown | clock  | 2025-01-09 06:00:00+00 | 17            | 2025-01-09 05:00:00+00 | 3600  | 169200        | 10         | 1           | 0            | 1          | 3          | 2         | 0`,
  ],
  arrivals_hourly: [
    `hour                   | builds | usual_low | usual_high | until
     2025-01-09 06:00:00+00 | 0      | ·         | ·          | 2025-01-09 06:00:00+00
     2025-01-09 05:00:00+00 | 1      | ·         | ·          | 2025-01-09 06:00:00+00
     2025-01-09 04:00:00+00 | 0      | ·         | ·          | 2025-01-09 05:00:00+00
     2025-01-09 03:00:00+00 | 1      | ·         | ·          | 2025-01-09 04:00:00+00
     2025-01-08 11:00:00+00 | 1      | ·         | ·          | 2025-01-08 12:00:00+00`,
  ],
  // Three projects make no incident: random-builds.test.ts has some.
  incident_hours: [],
  // Three known projects and an unknown one fail eleven times. The list was read into 2025-01-09: the last seven days
  // are those from the third on, and the seven before begin on 2024-12-27.
  error_classes: [
    `error_class  | example                                                 | rank | failures | failure_share | projects | project_share | first_triggered_at     | last_triggered_at      | last_build_id
     dependency   | ERROR: No matching distribution found for sphinx==4.5.6 | 1    | 3        | 3/11          | 3        | 1             | 2024-03-10 08:30:00+00 | 2025-01-05 23:00:00+00 | 22
     unclassified | ·                                                       | 2    | 5        | 5/11          | 1        | 1/3           | 2025-01-02 06:00:00+00 | 2025-01-09 03:00:00+00 | 8
     memory       | Killed                                                  | 3    | 3        | 3/11          | 1        | 1/3           | 2025-01-01 00:00:00+00 | 2025-01-06 00:00:00+00 | 23`,
    `error_class  | failures_last_7_days | failures_7_days_before | projects_last_7_days | projects_7_days_before
     dependency   | 1                    | 1                      | 1                    | 1
     unclassified | 3                    | 2                      | 1                    | 1
     memory       | 2                    | 1                      | 1                    | 1`,
  ],
  error_fingerprints: [
    `rank | error_class  | example                                                 | failures | failure_share | projects | project_share | first_triggered_at     | last_triggered_at      | last_build_id
     1    | dependency   | ERROR: No matching distribution found for sphinx==4.5.6 | 3        | 3/11          | 3        | 1             | 2024-03-10 08:30:00+00 | 2025-01-05 23:00:00+00 | 22
     2    | unclassified | make: *** [html] stopped after 12 s                     | 4        | 4/11          | 1        | 1/3           | 2025-01-02 06:00:00+00 | 2025-01-08 02:00:00+00 | 7
     3    | memory       | Killed                                                  | 3        | 3/11          | 1        | 1/3           | 2025-01-01 00:00:00+00 | 2025-01-06 00:00:00+00 | 23
     4    | unclassified | ·                                                       | 1        | 1/11          | 1        | 1/3           | 2025-01-09 03:00:00+00 | 2025-01-09 03:00:00+00 | 8`,
    `rank | failures_last_7_days | failures_7_days_before | projects_last_7_days | projects_7_days_before
     1    | 1                    | 1                      | 1                    | 1
     2    | 2                    | 2                      | 1                    | 1
     3    | 2                    | 1                      | 1                    | 1
     4    | 1                    | 0                      | 1                    | 0`,
  ],
  // A line says the version of what it asks for, and leaves out the seconds. “Killed” is not “killed”.
  error_lines: [
    `error_line                                              | error_class  | example                                                 | failures | failure_share | projects | project_share | first_triggered_at     | last_triggered_at      | last_build_id
     make: *** [html] stopped after ‹number› s                | unclassified | make: *** [html] stopped after 12 s                     | 4        | 4/11          | 1        | 1/3           | 2025-01-02 06:00:00+00 | 2025-01-08 02:00:00+00 | 7
     Killed                                                  | memory       | Killed                                                  | 2        | 2/11          | 1        | 1/3           | 2025-01-01 00:00:00+00 | 2025-01-06 00:00:00+00 | 23
     killed                                                  | memory       | killed                                                  | 1        | 1/11          | 0        | 0             | 2025-01-03 00:00:00+00 | 2025-01-03 00:00:00+00 | 12
     ERROR: No matching distribution found for sphinx==1.2.3 | dependency   | ERROR: No matching distribution found for sphinx==1.2.3 | 1        | 1/11          | 1        | 1/3           | 2024-12-31 00:30:00+00 | 2024-12-31 00:30:00+00 | 2
     ERROR: No matching distribution found for sphinx==20.0  | dependency   | ERROR: No matching distribution found for sphinx==20.0  | 1        | 1/11          | 1        | 1/3           | 2024-03-10 08:30:00+00 | 2024-03-10 08:30:00+00 | 14
     ERROR: No matching distribution found for sphinx==4.5.6 | dependency   | ERROR: No matching distribution found for sphinx==4.5.6 | 1        | 1/11          | 1        | 1/3           | 2025-01-05 23:00:00+00 | 2025-01-05 23:00:00+00 | 22
     ·                                                       | unclassified | ·                                                       | 1        | 1/11          | 1        | 1/3           | 2025-01-09 03:00:00+00 | 2025-01-09 03:00:00+00 | 8`,
    `error_line                                              | failures_last_7_days | failures_7_days_before | projects_last_7_days | projects_7_days_before
     make: *** [html] stopped after ‹number› s                | 2                    | 2                      | 1                    | 1
     Killed                                                  | 1                    | 1                      | 1                    | 1
     killed                                                  | 1                    | 0                      | 0                    | 0
     ERROR: No matching distribution found for sphinx==1.2.3 | 0                    | 1                      | 0                    | 1
     ERROR: No matching distribution found for sphinx==20.0  | 0                    | 0                      | 0                    | 0
     ERROR: No matching distribution found for sphinx==4.5.6 | 1                    | 0                      | 1                    | 0
     ·                                                       | 1                    | 0                      | 1                    | 0`,
  ],
  error_fingerprints_daily: [
    `day        | error_class  | failures | projects
     2024-03-10 | dependency   | 1        | 1
     2024-12-31 | dependency   | 1        | 1
     2025-01-01 | memory       | 1        | 1
     2025-01-02 | unclassified | 2        | 1
     2025-01-03 | memory       | 1        | 0
     2025-01-05 | dependency   | 1        | 1
     2025-01-06 | memory       | 1        | 1
     2025-01-06 | unclassified | 1        | 1
     2025-01-08 | unclassified | 1        | 1
     2025-01-09 | unclassified | 1        | 1`,
  ],
  // Memory is the platform's here: builds 3, 12 and 23 are left out.
  success_rate_without_platform: [
    `day        | finished | succeeded | failed | success_rate | finished_without_platform | succeeded_without_platform | failed_without_platform | incident_hours | is_complete | is_covered
     2024-03-10 | 1        | 0         | 1      | 0            | 1                         | 0                          | 1                       | 0              | false       | true
     2024-11-03 | 1        | 1         | 0      | 1            | 1                         | 1                          | 0                       | 0              | true        | true
     2024-12-29 | 1        | 1         | 0      | 1            | 1                         | 1                          | 0                       | 0              | true        | true
     2024-12-30 | 1        | 1         | 0      | 1            | 1                         | 1                          | 0                       | 0              | true        | true
     2024-12-31 | 1        | 0         | 1      | 0            | 1                         | 0                          | 1                       | 0              | true        | true
     2025-01-01 | 2        | 1         | 1      | 1/2          | 1                         | 1                          | 0                       | 0              | true        | true
     2025-01-02 | 4        | 2         | 2      | 1/2          | 4                         | 2                          | 2                       | 0              | true        | true
     2025-01-03 | 1        | 0         | 1      | 0            | 0                         | 0                          | 0                       | 0              | true        | true
     2025-01-04 | 0        | 0         | 0      | ·            | 0                         | 0                          | 0                       | 0              | true        | true
     2025-01-05 | 1        | 0         | 1      | 0            | 1                         | 0                          | 1                       | 0              | true        | true
     2025-01-06 | 3        | 1         | 2      | 1/3          | 2                         | 1                          | 1                       | 0              | true        | true
     2025-01-07 | 0        | 0         | 0      | ·            | 0                         | 0                          | 0                       | 0              | true        | true
     2025-01-08 | 1        | 0         | 1      | 0            | 1                         | 0                          | 1                       | 0              | false       | true
     2025-01-09 | 1        | 0         | 1      | 0            | 1                         | 0                          | 1                       | 0              | false       | true
     2025-01-10 | 1        | 1         | 0      | 1            | 1                         | 1                          | 0                       | 0              | false       | false`,
    `day        | success_rate_without_platform | success_rate_without_platform_low | success_rate_without_platform_high
     2024-03-10 | 0                             | 0                                 | 0.793456708526
     2025-01-01 | 1                             | 0.206543291474                    | 1
     2025-01-02 | 1/2                           | 0.150035708820                    | 0.849964291180
     2025-01-03 | ·                             | ·                                 | ·
     2025-01-06 | 1/2                           | 0.094528654801                    | 0.905471345199
     2025-01-09 | 0                             | 0                                 | 0.793456708526`,
  ],
};

/** What the dimensions say. The calendar begins with build 14, and has days of build 24's year only where there are builds. */
export const DIMENSIONS = {
  // pip's date, 20:00 in Chicago's summer, is 01:00 of the next day in UTC; the other one is 23:59:59 of the same day.
  dim_projects: `
     project_id | project_slug | project_name | repo              | repo_type | documentation_type | default_version | default_branch | published_on | is_listed | is_deleted | first_seen_at          | deleted_at             | theme   | programming_language | use_virtualenv
     1          | pip          | Pip          | git://a.example/p | git       | sphinx             | stable          | develop        | 2013-05-02   | true      | false      | 2025-01-01 00:00:00+00 | ·                      | nature  | Python               | true
     2          | 2            | 2            | ·                 | ·         | ·                  | ·               | ·              | ·            | false     | false      | 2025-01-01 00:00:00+00 | ·                      | ·       | ·                    | ·
     3          | gone         | gone         | ·                 | hg        | mkdocs             | latest          | ·              | 2014-01-31   | true      | true       | 2025-01-01 00:00:00+00 | 2025-01-08 12:00:00+00 | default | words                | false
     -1         | (unknown)    | (unknown)    | ·                 | ·         | ·                  | ·               | ·              | ·            | false     | false      | ·                      | ·                      | ·       | ·                    | ·`,
  dim_versions: `
     version_id | project_id | version_slug | version_name | identifier    | is_active | is_built | is_uploaded | is_deleted | first_seen_at          | deleted_at             | kind
     11         | 1          | latest       | latest       | origin/master | true      | true     | false       | false      | 2025-01-01 00:00:00+00 | ·                      | latest
     12         | 1          | stable       | Stable 1.0   | 0c4fed7       | false     | true     | true        | true       | 2025-01-01 00:00:00+00 | 2025-01-08 12:00:00+00 | stable
     21         | 2          | latest       | trunk        | ·             | ·         | ·        | ·           | false      | 2025-01-01 00:00:00+00 | ·                      | latest
     31         | 3          | 31           | main         | main          | true      | false    | false       | false      | 2025-01-01 00:00:00+00 | ·                      | branch
     41         | -1         | lost         | ·            | lost          | true      | false    | false       | false      | 2025-01-01 00:00:00+00 | ·                      | ·
     -1         | -1         | (unknown)    | (unknown)    | ·             | ·         | ·        | ·           | false      | ·                      | ·                      | ·`,
  dim_dates: `
     day        | week       | iso_week | month   | quarter | year | day_of_week | is_weekend | month_start | month_of_year | month_name | quarter_start | quarter_of_year | day_name
     2024-03-10 | 2024-03-04 | 2024-W10 | 2024-03 | 2024-Q1 | 2024 | 7           | true       | 2024-03-01  | 3             | March      | 2024-01-01    | 1               | Sunday
     2024-03-11 | 2024-03-11 | 2024-W11 | 2024-03 | 2024-Q1 | 2024 | 1           | false      | 2024-03-01  | 3             | March      | 2024-01-01    | 1               | Monday
     2024-12-28 | 2024-12-23 | 2024-W52 | 2024-12 | 2024-Q4 | 2024 | 6           | true       | 2024-12-01  | 12            | December   | 2024-10-01    | 4               | Saturday
     2024-12-30 | 2024-12-30 | 2025-W01 | 2024-12 | 2024-Q4 | 2024 | 1           | false      | 2024-12-01  | 12            | December   | 2024-10-01    | 4               | Monday`,
};
