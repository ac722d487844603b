# atc with its embedded model's runtime. The model itself is fetched on first use into the mounted cache:
#   docker build -t atc .
#   docker run --rm -it -v atc-cache:/cache atc run "How many flights left JFK for Boston on 4 July 2013?"
ARG BASE=python:3.12-slim
FROM ${BASE}

WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY atc atc
COPY sandbox sandbox
COPY protocols protocols
COPY probing probing
COPY toolflow_bench toolflow_bench
RUN pip install --no-cache-dir ".[decode,local,monty,retrieval,toolflow]" && rm -rf /src

RUN useradd --create-home atc && mkdir /cache && chown atc /cache
USER atc
WORKDIR /home/atc
ENV ATC_CACHE_DIR=/cache
ENTRYPOINT ["atc"]
CMD ["--help"]
