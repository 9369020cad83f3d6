#!/usr/bin/env bash
# Makes the two API keys of a running Elasticsearch of docker-compose.yml and prints them for .env:
# one for the ingest, which writes, and one for the retriever, which only reads.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly indices='"names": ["passages*"]'

# make_key NAME CLUSTER-PRIVILEGES INDEX-PRIVILEGES
make_key() {
    local body
    body=$(printf '{"name": "%s", "role_descriptors": {"%s": {"cluster": %s, "indices": [{%s, "privileges": %s}]}}}' \
        "$1" "$1" "$2" "$indices" "$3")
    # shellcheck disable=SC2016 # the password is known inside the container
    docker compose exec --no-TTY elasticsearch sh -c \
        'curl -sSf -u "elastic:$ELASTIC_PASSWORD" -H "Content-Type: application/json" -d "$1" http://127.0.0.1:9200/_security/api_key' \
        sh "$body" | python3 -c 'import json, sys; print(json.load(sys.stdin)["encoded"])'
}

# Compose wants every setting, also to speak to one container.
export ELASTICSEARCH_APIKEY="${ELASTICSEARCH_APIKEY:-not-yet}"
export ELASTICSEARCH_READ_APIKEY="${ELASTICSEARCH_READ_APIKEY:-not-yet}"
docker compose up --detach --wait elasticsearch >&2
writer=$(make_key askem-ingest '["monitor"]' '["read", "view_index_metadata", "write", "create_index", "manage"]')
reader=$(make_key askem-retriever '["monitor"]' '["read", "view_index_metadata"]')
printf 'ELASTICSEARCH_APIKEY=%s\nELASTICSEARCH_READ_APIKEY=%s\n' "$writer" "$reader"
