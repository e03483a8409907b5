/** Ten mistakes that somebody might make in the core, each as a small replacement in one file, and the tests that see it. */

export interface Mutation {
  readonly name: string;
  /** What is wrong then. */
  readonly wrong: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** Test files, of which one at least must fail. */
  readonly tests: readonly string[];
}

export const MUTATIONS: readonly Mutation[] = [
  {
    name: "retry",
    wrong: "a request that failed is never sent again",
    file: "src/mirror/api/retry.ts",
    from: "if (number > retries ||",
    to: "if (number > 0 ||",
    tests: ["test/mirror/api/client.test.ts", "test/mirror/run/fault-matrix.test.ts"],
  },
  {
    name: "hold",
    wrong: "503 holds back the request that it answers, and no other",
    file: "src/mirror/api/fates.ts",
    from: "applies: answered(503), again: AS_SET, holdsAll: true,",
    to: "applies: answered(503), again: AS_SET,",
    tests: ["test/mirror/api/host-gate.test.ts", "test/mirror/run/fault-matrix.test.ts"],
  },
  {
    name: "anchors",
    wrong: "a page counts that holds no record of those before it",
    file: "src/mirror/walk/pass.ts",
    from: "(anchors === 0 || isWeak)",
    to: "isWeak",
    tests: ["test/mirror/walk/course.test.ts", "test/mirror/walk/walk.test.ts"],
  },
  {
    name: "tombstone",
    wrong: "any refusal of a record's detail marks it deleted, not 404 and 410 alone",
    file: "src/mirror/api/fates.ts",
    from: "const GONE = [404, 410] as const;",
    to: "const GONE = [400, 401, 403, 404, 407, 410] as const;",
    tests: ["test/mirror/run/confirm-deletions.test.ts", "test/mirror/run/repair-references.test.ts"],
  },
  {
    name: "bounds",
    wrong: "a state was entered after the last reply that showed another one, not after its request",
    file: "src/mirror/load/sql/update_open_builds.sql",
    from: "sighting.id, entered.at, sighting.asked_at,",
    to: "sighting.id, entered.at, sighting.at,",
    tests: ["test/mirror/load/transitions.test.ts", "test/mirror/load/transitions-model.test.ts"],
  },
  {
    name: "record hash",
    wrong: "fields that docmirror does not know count for nothing, so a change of one is never stored",
    file: "src/mirror/normalize/record-hash.ts",
    from: "if (keys.length > known)",
    to: "if (keys.length < known)",
    tests: ["test/mirror/normalize/record-hash.test.ts", "test/mirror/load/changes.test.ts"],
  },
  {
    name: "checkpoint",
    wrong: "the checkpoint is committed before the pages that it stands behind",
    file: "src/mirror/lists/settle-pages.ts",
    from: "save(tx, progress(settled)),",
    to: "save(sql, progress(settled)),",
    tests: ["test/mirror/run/all-or-nothing.test.ts"],
  },
  {
    name: "lock check",
    wrong: "a batch is stored though another run has taken the lock",
    file: "src/mirror/load/loader.ts",
    from: "await options.assertMayWrite?.(tx);",
    to: "",
    tests: ["test/mirror/load/loader.test.ts"],
  },
  {
    name: "outbox",
    wrong: "a notice is not held by the process that sends it, so that two may send it",
    file: "src/notify/outbox.ts",
    from: "const CLAIM_S = 60;",
    to: "const CLAIM_S = 0;",
    tests: ["test/notify/deliver.test.ts"],
  },
  {
    name: "revision",
    wrong: "a list keeps its revision when a record changes that is embedded in it",
    file: "src/serve/catalog/mirror-catalog.ts",
    from: "[resource, ...targets.flatMap(({ target }) => partsOf(target))]",
    to: "[resource, ...targets.slice(0, 0).flatMap(({ target }) => partsOf(target))]",
    tests: ["test/serve/catalog", "test/serve/http/caching.test.ts"],
  },
];
