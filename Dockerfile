# A static binary alone, run by a user without rights:
#   docker build -t ringside .
#   docker run -p 6379:6379 -v ringside:/data -e RINGSIDE_REQUIREPASS=secret ringside
FROM --platform=$BUILDPLATFORM golang:1.26-bookworm AS build
ARG BUILDARCH TARGETARCH
RUN if [ "$TARGETARCH" != "$BUILDARCH" ]; then \
      apt-get update && apt-get install -y --no-install-recommends "crossbuild-essential-$TARGETARCH"; \
    fi
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION COMMIT DATE
# Pebble's block cache and memtables lie outside Go's heap only if cgo is on: without it, a node needs about twice the
# memory. Names of hosts and users are looked up by Go alone, since libc would load libraries for that.
RUN arch=${TARGETARCH:-$(go env GOARCH)} && \
    case $arch in amd64) cc=x86_64-linux-gnu-gcc ;; arm64) cc=aarch64-linux-gnu-gcc ;; *) cc=gcc ;; esac && \
    mkdir -p /out/data /out/tmp && \
    CGO_ENABLED=1 CC=$cc GOOS=linux GOARCH=$arch go build -trimpath -buildvcs=false -tags netgo,osusergo \
      -ldflags "-s -w -linkmode external -extldflags -static -X main.version=$VERSION -X main.commit=$COMMIT -X main.date=$DATE" \
      -o /out/ringside ./cmd/ringside

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build --chown=65532:65532 /out/data /data
COPY --from=build --chown=65532:65532 /out/tmp /tmp
COPY --from=build /out/ringside /usr/local/bin/ringside
COPY LICENSE /
USER 65532:65532
# Every interface of the container. Clients of other hosts are refused until there is a password or TLS.
ENV RINGSIDE_ADDR=:6379 RINGSIDE_DIR=/data
VOLUME /data
# Clients, gossip, metrics and health, other nodes.
EXPOSE 6379 7379 7379/udp 8379 16379
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=6s --start-period=30s --retries=3 CMD ["/usr/local/bin/ringside", "healthy"]
ENTRYPOINT ["/usr/local/bin/ringside"]
CMD ["serve"]
