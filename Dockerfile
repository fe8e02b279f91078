# Goblin in a container (docs/install.md): Node.js with npx, uv with uvx, and nothing that runs as
# root. It writes only to /data and /tmp, so its root file system can be read-only.
ARG NODE_IMAGE=node:24-bookworm-slim
ARG UV_IMAGE=ghcr.io/astral-sh/uv:0.13.7

FROM ${UV_IMAGE} AS uv

FROM ${NODE_IMAGE} AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
# What npm would publish, installed as npm would install it.
RUN npm run build \
  && npm pack --ignore-scripts --pack-destination /tmp \
  && npm install --global --prefix /out --no-audit --no-fund /tmp/goblin-mcp-*.tgz

FROM ${NODE_IMAGE}
LABEL org.opencontainers.image.title="Goblin" \
  org.opencontainers.image.description="One MCP endpoint in front of all your MCP servers" \
  org.opencontainers.image.licenses="MIT"
# tini is process 1: it hands signals on, and reaps what servers leave behind. uvx finds a Python.
# hadolint ignore=DL3008
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates python3 tini \
  && rm -rf /var/lib/apt/lists/* /var/log/* /var/cache/* \
  && install -d -o node -g node -m 0700 /data \
  && install -d /etc/goblin
COPY --from=uv /uv /uvx /usr/local/bin/
COPY --from=build /out/ /usr/local/
COPY --chmod=0755 deploy/docker/entrypoint.sh /usr/local/bin/goblin-entrypoint
COPY deploy/docker/health.mjs /usr/local/lib/goblin-health.mjs

# The home folder has the state, and what npx and uvx install. In a container, every interface is
# the container's own; who may reach it is decided by who publishes the port.
ENV HOME=/data \
  GOBLIN_HOST=0.0.0.0 \
  GOBLIN_PORT=3000 \
  GOBLIN_KEYCHAIN=0 \
  UV_LINK_MODE=copy \
  NPM_CONFIG_UPDATE_NOTIFIER=false
WORKDIR /data
VOLUME /data
EXPOSE 3000
# The user "node", by its number: Kubernetes sees that it is not root.
USER 1000:1000
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
  CMD ["node", "/usr/local/lib/goblin-health.mjs"]
ENTRYPOINT ["/usr/bin/tini", "--", "/usr/local/bin/goblin-entrypoint"]
CMD ["serve"]
