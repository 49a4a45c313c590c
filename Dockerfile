# The site in a container; the same image is the web server and the worker. docs/containers.md says how it is run.
FROM python:3.11-slim AS build

ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /srv/evalsite
RUN python -m venv .venv
COPY requirements*.txt ./
# With requirements.txt embeddings can be computed in the container, too, which makes the image some gigabytes larger.
ARG REQUIREMENTS=requirements-light.txt
RUN .venv/bin/pip install -r $REQUIREMENTS -r requirements-postgresql.txt \
    -r requirements-celery.txt -r requirements-s3.txt -r requirements-sso.txt

FROM python:3.11-slim

RUN useradd --system --uid 10001 --home-dir /data evalsite \
    && install --directory --owner evalsite --mode 0700 /data /uploads
WORKDIR /srv/evalsite
COPY --from=build /srv/evalsite/.venv .venv
COPY manage.py ./
COPY evalsite evalsite
COPY scoring scoring
COPY templates templates
COPY static static
RUN .venv/bin/python -m compileall -q evalsite scoring

USER evalsite
ENV EVALSITE_DATA_DIR=/data PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
VOLUME ["/data", "/uploads"]
EXPOSE 8000
# Only /data, /uploads and /tmp are written to: the rest may be read-only.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
    CMD [".venv/bin/python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/readyz', timeout=4)"]
ENTRYPOINT [".venv/bin/python", "manage.py"]
CMD ["start", "--host", "0.0.0.0"]
