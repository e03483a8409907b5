# Images by tag, so that a build takes their newest fixes. `deploy/compose/pin-images.sh` prints the same with
# their digests, for builds that must be repeatable. Both must be of the same Debian, since Node is copied over.
ARG NODE_IMAGE=node:24-bookworm-slim
ARG BASE_IMAGE=debian:bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# No scripts: the program is bundled below, and the image does not use the embedded Postgres.
RUN --mount=type=cache,target=/root/.npm npm ci --ignore-scripts
COPY tsconfig.json ./
COPY src ./src
RUN npm run bundle

# The bundle holds all packages but DuckDB, so this image needs no node_modules and no npm. `dist/cli/sbom.json`
# names the packages for scanners.
FROM ${BASE_IMAGE} AS runtime
COPY --from=build /usr/local/bin/node /usr/local/bin/node
WORKDIR /app
COPY package.json LICENSE ./
COPY bin ./bin
COPY migrations ./migrations
COPY --from=build /app/dist/cli ./dist/cli
# A bundle that does not load fails here.
RUN ln -s /app/bin/docmirror.js /usr/local/bin/docmirror && docmirror --version
# A new volume there gets this owner.
RUN install -d -o 10001 -g 10001 -m 0700 /backups
ENV NODE_ENV=production
USER 10001:10001
STOPSIGNAL SIGTERM
EXPOSE 8321
# The worker and serve answer it. Other commands end by themselves, before it counts.
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 \
  CMD ["node", "-e", "http.get({ port: process.env.DOCMIRROR_HTTP_PORT || 8321, path: '/readyz', host: '127.0.0.1', agent: false }, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
ENTRYPOINT ["docmirror"]
CMD ["worker"]
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="docmirror" \
  org.opencontainers.image.description="A mirror of a documentation hosting service's API in Postgres" \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}"

# `docker build --target parquet`: with the engine that `export` needs for Parquet. CSV needs none.
FROM runtime AS parquet
COPY --from=build /app/node_modules/@duckdb ./node_modules/@duckdb
RUN ["node", "-e", "import('@duckdb/node-api')"]

# The image of a plain `docker build`.
FROM runtime
