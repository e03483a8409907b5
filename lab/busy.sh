#!/usr/bin/env bash
# Runs the short tests three times beside four busy loops, and says which failed: none may. Takes about half an hour.
# npm run test:busy [-- a test's path ...]
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 1
scratch=$(mktemp -d)
loops=()
# shellcheck disable=SC2317,SC2329
end() {
  kill "${loops[@]}"
  rm -rf "$scratch"
}
trap end EXIT
for _ in 1 2 3 4; do
  (while :; do :; done) &
  loops+=($!)
done
for run in 1 2 3; do
  code=0
  CI_RECORD=$scratch/record-$run npx vitest run --reporter=dot --reporter=./.ci/reporter.js --tags-filter='!long' "$@" \
    >"$scratch/output-$run" 2>&1 || code=$?
  node .ci/tell.js "run $run" "$scratch/record-$run" "$code" "$scratch/counts" "$scratch/failures" || exit 1
done
[ ! -s "$scratch/failures" ] || { cat "$scratch/failures" && exit 1; }
