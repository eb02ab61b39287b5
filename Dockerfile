# Regolith in one image: the API, the publisher and the decision point. The command after the name chooses:
#
#   docker build --tag regolith .
#   docker run --restart unless-stopped --publish 127.0.0.1:8000:8000 --publish 127.0.0.1:7766:7766 --volume regolith:/data regolith
#   docker run … regolith pdp
#
# compose.yaml runs the parts apart, around a PostgreSQL.

# Tags move. To build from exactly the same bases again, name them by digest (docs/operate/deployment.md, Base images):
#
#   docker build --build-arg NODE_IMAGE=node:24-bookworm-slim@sha256:… --build-arg GO_IMAGE=… --tag regolith .

# Same versions as compiler/opa/go.mod and .tools; a newer patch of each will do.
ARG GO_IMAGE=golang:1.26-bookworm
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${GO_IMAGE} AS opa
WORKDIR /src
COPY compiler/opa/go.mod compiler/opa/go.sum ./
RUN go mod download
COPY compiler/opa/*.go ./
RUN CGO_ENABLED=0 go build -tags=part -trimpath -ldflags='-s -w' -o /regolith-opa .

FROM ${NODE_IMAGE} AS build
WORKDIR /src
COPY package.json package-lock.json ./
COPY packages/engine/package.json packages/engine/
COPY setup setup
RUN node --input-type=module --eval "import { installDependencies } from './setup/dependencies.mjs'; await installDependencies('/src', console.log);"
COPY . .
COPY --from=opa /regolith-opa /app/.tools/
RUN OPA_PATH=/app/.tools/regolith-opa node setup/run.mjs build \
	&& npm pack --ignore-scripts --pack-destination /tmp \
	&& tar --extract --gzip --strip-components=1 --directory=/app --file=/tmp/regolith-server-*.tgz \
	&& npm prune --omit=dev --no-audit --no-fund \
	&& rm -rf node_modules/@regolith \
	&& mv node_modules /app/

FROM ${NODE_IMAGE}
LABEL org.opencontainers.image.title="Regolith" org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /app /app
RUN mkdir /data && chown 1000:1000 /data
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data
# Everything else may be read-only: only /data and /tmp are written.
VOLUME ["/data"]
EXPOSE 8000 7766
USER 1000:1000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["node", "/app/deploy/healthcheck.mjs"]
ENTRYPOINT ["node", "--enable-source-maps", "/app/dist/program/main.js"]
CMD ["start"]
