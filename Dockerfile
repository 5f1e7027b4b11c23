# heddle in a container, which writes its results into the folder that it is started in:
#   docker build -t heddle . && docker run --rm -v "$PWD":/work heddle optimize matmul-naive
# With a GPU (NVIDIA's container toolkit), keeping its verdicts:
#   docker run --rm --gpus all -v "$PWD":/work -v ~/.cache/heddle:/root/.cache/heddle heddle tune bfs
FROM debian:12 AS build
WORKDIR /heddle
COPY . .
RUN scripts/deb

FROM debian:12-slim
COPY --from=build /heddle/dist/*.deb /tmp/
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/heddle_*.deb clang gcc libc6-dev && \
    rm -rf /tmp/*.deb /var/lib/apt/lists/*
WORKDIR /work
ENTRYPOINT ["heddle"]
CMD ["-h"]
