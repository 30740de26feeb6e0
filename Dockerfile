# The gateway on Deno, with a browser for the page service. State is in /data: keep it on a volume.
#
# `npm run container-check` builds and starts it, or takes its steps one by one where nothing can build images.
#
#   docker build -t polygate .
#   docker run -p 8787:8787 -v polygate:/data -e ADMIN_KEY=… -e PROVIDER_BASE_URL=… polygate

FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci
COPY . .
# The console, the technology rules and the block lists. Deno comes with the image, not with a package.
RUN node scripts/prepare.mjs && npm prune --omit=dev --omit=optional

FROM denoland/deno:debian-2.9.5
RUN apt-get update \
 && apt-get install -y --no-install-recommends chromium fonts-noto-core fonts-noto-cjk fonts-noto-color-emoji \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=build /app/package.json /app/deno.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build /app/sandbox sandbox
COPY --from=build /app/src src
RUN mkdir /data && chown deno:deno /data
USER deno
ENV DATA_DIR=/data BROWSER_EXECUTABLE=/usr/bin/chromium DENO_NO_UPDATE_CHECK=1 PORT=8787
VOLUME /data
EXPOSE 8787
# `exec`, so that the signal to stop arrives: streams end first, for which there are 25 seconds.
ENTRYPOINT ["sh", "-c", "exec deno serve -A --host 0.0.0.0 --port \"$PORT\" src/deno.ts"]
