# heddle in a container, without a GPU:  docker build -t heddle . && docker run --rm heddle optimize matmul-naive
# With one (NVIDIA's container toolkit): docker run --rm --gpus all -v ~/.cache/heddle:/root/.cache/heddle heddle tune bfs
FROM debian:12 AS build
WORKDIR /heddle
COPY . .
RUN scripts/deb

FROM debian:12-slim
COPY --from=build /heddle/dist/*.deb /tmp/
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/heddle_*.deb clang gcc libc6-dev && \
    rm -rf /tmp/*.deb /var/lib/apt/lists/*
ENTRYPOINT ["heddle"]
CMD ["-h"]
