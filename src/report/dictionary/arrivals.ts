/** Whether builds arrive as they usually do. */
export const ARRIVALS = {
  arrivals: {
    answers:
      "Do builds arrive as usual? One row, as of looked_at. The days to compare with are the 28 before the last build.",
    columns: {
      looked_at:
        "Up to when the service's builds are known: all else is as of then. Null before the builds were read whole.",
      state:
        "quiet: none came for more than twice the longest gap, and 10 or more are usual in that time. late: the " +
        "same for more than the longest gap. few: in the 24 hours fewer came than on any of the days, and 10 or " +
        "more are usual. usual: neither. dormant: none came for 28 days, so nothing is expected any more. " +
        "unknown: see reason.",
      reason:
        "Why the state is unknown. not_read: the builds were never read whole. no_builds: none has a date. " +
        "too_few_days: fewer than 14 days are known. clock: dates of builds and the mirror's clock disagree, " +
        "perhaps by a wrong DOCMIRROR_SOURCE_TIMEZONE. Else null.",
      last_build_id: "The last build: the one triggered last before looked_at.",
      last_build_at: "When it was triggered.",
      gap_s: "Seconds from then to looked_at.",
      longest_gap_s: "The longest time between two builds of those days, in seconds; 60 where it was less.",
      days_known: "How many whole days before the last build are known, at most 28.",
      usual_since:
        "Builds that usually come in the gap, or in its first 24 hours: the median of the same hours of the same weekday of the last weeks.",
      fewest_since: "The fewest that came in those hours on any of the days.",
      most_since: "The most that came in those hours on any of the days.",
      builds_24h: "Builds triggered in the 24 hours before looked_at.",
      usual_24h: "How many that usually are, by the same weekday of the last weeks.",
      fewest_24h: "The fewest in such 24 hours of any of the days.",
      state_now: "state where the mirror looked within 5 minutes of now, else unknown.",
    },
  },
  arrivals_hourly: {
    answers:
      "How many builds came in each of the last 24 hours, and how many usually do? The last hour ends when the mirror looked.",
    columns: {
      hour: "When the hour began.",
      builds: "Builds triggered in it.",
      usual_low:
        "The 10th percentile of that hour on the days of arrivals, working days and weekends apart; null where fewer than 14 days are known.",
      usual_high: "The 90th percentile of the same.",
      until: "When it ended: the last hour when the mirror looked.",
    },
  },
} as const;
