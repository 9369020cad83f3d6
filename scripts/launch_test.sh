#!/usr/bin/env bash
# What an operator runs first, and after every deploy.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly root
readonly python="$root/.venv/bin/python"
started_engines=no started_compose=no server='' work=''

usage() {
    cat <<'TEXT'
Usage: scripts/launch_test.sh MODE [--new] [--data-dir DIR]

  --embedded   starts `askem serve` in a temporary data folder, or in DIR, and tests it
  --servers    the same with Weaviate and Elasticsearch of scripts/engines.sh
  --compose    starts docker-compose.yml with Docker, tests it, leaves it running
  --url URL    tests what answers at URL, with the key in ASKEM_API_KEY

Loads two papers and a figure under a topic of its own, asks, deletes them. A line a check: PASS,
FAIL with what to look at, or SKIP; the exit status is 0 only when nothing failed.

  --new        an empty index is no failure (always so in a temporary data folder)
TEXT
}

die() {
    local text="$*"
    printf 'FAIL start: %s\n' "${text//$'\n'/ }"
    exit 1
}

clean_up() {
    local status=$?
    trap - EXIT INT TERM
    if [[ -n "$server" ]] && kill -0 "$server" 2>/dev/null; then
        kill -TERM "$server"
        wait "$server" 2>/dev/null || true
    fi
    [[ "$started_engines" == no ]] || "$root/scripts/engines.sh" down >/dev/null
    [[ "$started_compose" == no ]] || echo "Left running; stop it with: docker compose down"
    [[ -z "$work" ]] || rm -rf "$work"
    exit "$status"
}

need_environment() {
    [[ -x "$root/.venv/bin/askem" ]] || make --silent -C "$root" .venv/.ready
}

# Starts `askem serve` on a free port and waits for its greeting; sets `url`.
serve() {
    local data_dir="$1" log="$work/serve.log"
    export ASKEM_API_KEY="${ASKEM_API_KEY:-$("$python" -c 'import secrets; print(secrets.token_urlsafe(24))')}"
    (cd "$work" && exec "$root/.venv/bin/askem" serve --host 127.0.0.1 --port 0 --data-dir "$data_dir") \
        >"$work/serve.out" 2>"$log" &
    server=$!
    local deadline=$((SECONDS + 40))
    until url=$(sed -n 's/^Askem answers at \([^ ]*\) .*/\1/p' "$work/serve.out" 2>/dev/null) && [[ -n "$url" ]]; do
        if ! kill -0 "$server" 2>/dev/null; then
            die "\`askem serve\` ended: $(tail -n 1 "$log"); look at its settings (docs/operations.md)"
        fi
        ((SECONDS < deadline)) || die "\`askem serve\` does not answer; look at its log: $(tail -n 3 "$log")"
        sleep 0.1
    done
}

engines_up() {
    "$python" -c 'import askem.stores.servers' 2>/dev/null ||
        make --silent -C "$root" .venv/.ready-servers ||
        die "the engines' clients are not installed: pip install -r requirements-servers.lock"
    "$root/scripts/engines.sh" status >/dev/null 2>&1 || started_engines=yes
    "$root/scripts/engines.sh" up >"$work/engines.log" 2>&1 ||
        die "the engines did not start: $(tail -n 3 "$work/engines.log"); look at scripts/engines.sh status"
    local lines
    lines=$("$root/scripts/engines.sh" env)
    eval "$lines"
    export ASKEM_STORES=servers
    "$root/.venv/bin/askem" schema create >"$work/schema.log" 2>&1 ||
        die "\`askem schema create\`: $(tail -n 1 "$work/schema.log"); look at \`askem schema status\`"
}

compose_up() {
    docker compose version >/dev/null 2>&1 ||
        die "there is no docker with compose here; look at docs/operations.md, Containers"
    [[ -n "${ASKEM_API_KEY:-}" ]] || ASKEM_API_KEY=$(sed -n 's/^ASKEM_API_KEY=//p' "$root/.env" 2>/dev/null | tail -n 1)
    export ASKEM_API_KEY
    docker compose --project-directory "$root" up --detach --wait --quiet-pull >"$work/compose.log" 2>&1 ||
        die "docker compose up: $(tail -n 3 "$work/compose.log"); look at docker compose ps and logs"
    started_compose=yes
    docker compose --project-directory "$root" exec --no-TTY ingest askem schema create >"$work/schema.log" 2>&1 ||
        die "\`askem schema create\`: $(tail -n 1 "$work/schema.log"); look at docker compose logs ingest"
    url="http://$(docker compose --project-directory "$root" port nginx 4502)"
}

main() {
    local mode='' url='' data_dir='' arguments=()
    while [[ $# -gt 0 ]]; do
        case "$1" in
        --embedded | --servers | --compose) mode="${1#--}" ;;
        --url)
            mode=url url="${2:-}"
            [[ -n "$url" ]] || die "--url which?"
            shift
            ;;
        --data-dir)
            data_dir="${2:-}"
            [[ -n "$data_dir" ]] || die "--data-dir which?"
            shift
            ;;
        --new) arguments+=(--new) ;;
        -h | --help)
            usage
            exit
            ;;
        *)
            usage >&2
            exit 2
            ;;
        esac
        shift
    done
    [[ -n "$mode" ]] || {
        usage >&2
        exit 2
    }
    trap clean_up EXIT
    trap 'exit 130' INT TERM
    work=$(mktemp -d)
    need_environment
    if [[ "$mode" == embedded || "$mode" == servers ]]; then
        [[ -n "$data_dir" ]] || arguments+=(--new)
        data_dir=$(realpath -m "${data_dir:-$work/data}")
        [[ "$mode" == embedded ]] || engines_up
        serve "$data_dir"
    elif [[ "$mode" == compose ]]; then
        compose_up
    fi
    [[ -z "$data_dir" ]] || arguments+=(--data-dir "$data_dir")
    "$python" "$root/scripts/launch_checks.py" --url "$url" "${arguments[@]}"
}

main "$@"
