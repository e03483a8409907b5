#!/bin/sh
# Prints the images of docker-compose.yml by their digests, as a file for `docker compose --env-file`. It asks the
# registry, and fails where that does not answer: a digest that nobody looked up is worth nothing.
set -eu
pin() {
  digest=$(docker buildx imagetools inspect --format '{{.Manifest.Digest}}' "$2") || {
    echo "pin-images: no digest for $2; nothing was pinned" >&2
    exit 1
  }
  case $digest in
    sha256:*) lines="$lines$1=$2@$digest
" ;;
    *) echo "pin-images: \"$digest\" is no digest of $2; nothing was pinned" >&2; exit 1 ;;
  esac
}
lines=
pin NODE_IMAGE "${NODE_IMAGE:-node:24-bookworm-slim}"
pin BASE_IMAGE "${BASE_IMAGE:-debian:bookworm-slim}"
pin POSTGRES_IMAGE "${POSTGRES_IMAGE:-postgres:18}"
pin GRAFANA_IMAGE "${GRAFANA_IMAGE:-grafana/grafana:12.4.0}"
printf '%s' "$lines"
