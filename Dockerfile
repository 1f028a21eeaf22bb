# A model behind an address: smile serve, in a container that runs as nobody in particular and needs no network.
#
#   docker build -t smilenn .
#   docker run --rm -p 8000:8000 -v "$PWD/credit-model:/model:ro" smilenn
#
# The model folder is mounted, read-only; its certificate is checked before the first answer.
FROM python:3.12.11-slim-bookworm

ENV PYTHONUNBUFFERED=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    OMP_NUM_THREADS=1

WORKDIR /srv/smilenn
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src ./src

# torch first and by its exact version, from the index of builds for processors: no gigabytes of CUDA.
RUN pip install --index-url https://download.pytorch.org/whl/cpu "$(grep '^torch==' constraints.txt)" \
    && pip install -c constraints.txt '.[serve,sign,cluster]' \
    && useradd --system --uid 10001 --no-create-home smilenn

USER 10001
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health', timeout=4)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["smile"]
CMD ["serve", "/model", "--host", "0.0.0.0", "--port", "8000"]
