#!/usr/bin/env bash
# Builds the services' images with buildah and starts each as a cluster would: docs/operations.md.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly root
readonly suite=bookworm
readonly cache="${ASKEM_IMAGES_CACHE:-$root/.cache/images}"

usage() {
    cat <<'TEXT'
Usage: scripts/build_images.sh [--base IMAGE] [--keep] [SERVICE...]

Builds the image of each SERVICE (retriever, ingest, agent, and one-host for all in one; all four
without one), starts it without privileges on a read-only root file system, waits until it is
healthy, prints size and times.

  --base IMAGE   the image to build on; default python:3.12-slim. `debootstrap` makes one from
                 Debian's packages, where no image can be pulled
  --keep         leave the images in .cache/images/storage; they are thrown away otherwise
TEXT
}

say() { printf '%s\n' "$*"; }

die() {
    printf 'build_images: %s\n' "$*" >&2
    exit 1
}

# vfs and chroot work where overlay mounts and user namespaces do not.
run_buildah() {
    buildah --root "$storage" --runroot "$work/run" --storage-driver vfs "$@"
}

seconds_since() { awk -v a="$1" -v b="$(date +%s.%N)" 'BEGIN { printf "%.1f", b - a }'; }

clean_up() {
    local status=$?
    [[ -z "${server:-}" ]] || stop_server
    run_buildah rm --all >/dev/null 2>&1 || true
    [[ "$keep" == yes ]] || rm -rf "$storage"
    rm -rf "$work"
    exit "$status"
}

need() {
    local tool missing=()
    for tool in "$@"; do
        command -v "$tool" >/dev/null || missing+=("$tool")
    done
    [[ ${#missing[@]} -eq 0 ]] || die "please install: ${missing[*]}"
}

# A base image from Debian's packages; the archive of its files is kept.
make_base() {
    local archive="$cache/$suite.tar" tree="$work/base"
    need debootstrap
    if [[ ! -s "$archive" ]]; then
        say "Making a base image of Debian $suite (a minute)"
        debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates \
            "$suite" "$tree" >"$cache/debootstrap.log" 2>&1 || die "debootstrap failed: $cache/debootstrap.log"
        rm -rf "$tree"/var/cache/apt/* "$tree"/var/lib/apt/lists/* "$tree"/usr/share/{doc,man,locale,info}
        tar --create --file "$archive.new" --directory "$tree" --exclude './dev/*' .
        mv "$archive.new" "$archive"
    fi
    local container
    container=$(run_buildah from scratch)
    run_buildah add --quiet "$container" "$archive" / >/dev/null
    run_buildah commit --quiet --rm "$container" askem-base >/dev/null
}

build() {
    local service="$1" options=()
    # What pip needs to reach its packages from here is lent to the build and is in no layer.
    [[ ! -e /etc/pip.conf ]] || options+=(--volume /etc/pip.conf:/etc/pip.conf:ro)
    [[ -z "${PIP_CERT:-}" ]] || options+=(--volume "$PIP_CERT:$PIP_CERT:ro")
    [[ "$base" != debootstrap ]] || options+=(--pull-never)
    [[ "$service" != one-host ]] || options+=(--build-arg WITH_AGENT=1)
    run_buildah build --quiet --isolation chroot --network host --format docker \
        "${options[@]}" --build-arg BASE_IMAGE="${base/#debootstrap/askem-base}" \
        --file "$root/services/${service/#one-host/ingest}/Dockerfile" --tag "askem-$service" "$root" \
        >"$work/build.log" 2>&1 || {
        tail -n 30 "$work/build.log" >&2
        die "the image of $service could not be built"
    }
}

# start SERVICE: its own command, user and settings; only /data and /tmp can be written.
start() {
    local service="$1" tree command=()
    container=$(run_buildah from --pull-never "askem-$service")
    tree=$(run_buildah mount "$container")
    # Where buildah lays files of its own: it cannot make these once the tree is read-only.
    touch "$tree"/run/.containerenv "$tree"/etc/{hosts,hostname,resolv.conf}
    rm -rf "$work"/{data,tmp}
    mkdir "$work"/{data,tmp}
    chown 10001:10001 "$work/data"
    chmod 1777 "$work/tmp"
    mapfile -t command < <(run_buildah inspect --format \
        '{{range .OCIv1.Config.Entrypoint}}{{println .}}{{end}}{{range .OCIv1.Config.Cmd}}{{println .}}{{end}}' \
        "$container" | grep .)
    # shellcheck disable=SC2016 # expanded by the inner shell
    locked=(unshare --mount bash -c 'mount --bind "$0" "$0"; mount -o remount,bind,ro "$0"; exec "$@"' "$tree"
        buildah --root "$storage" --runroot "$work/run" --storage-driver vfs
        run --isolation chroot --network host --cap-drop all
        --volume "$work/data:/data" --volume "$work/tmp:/tmp"
        --env "ASKEM_API_KEY=$key" --env "ASKEM_PORT=$port")
    # As deploy/compose.one-host.yml does.
    [[ "$service" != one-host ]] || locked+=(--env "ASKEM_SERVICES=agent,ingest,retriever")
    locked+=("$container" --)
    setsid "${locked[@]}" "${command[@]}" >"$work/$service.log" 2>&1 &
    server=$!
}

await_health() {
    local service="$1" deadline=$((SECONDS + 180)) # a guard: busy machines take their time
    until PYTHONPATH="$root/src" ASKEM_PORT="$port" python3 -m askem.http.probe; do
        if ! kill -0 "$server" 2>/dev/null || ((SECONDS > deadline)); then
            tail -n 20 "$work/$service.log" >&2
            die "$service is not healthy"
        fi
        sleep 0.1
    done
}

# Whether a command succeeds in the running container. Told by its word, not by buildah's exit
# status: older versions of it fail when they tidy up a read-only tree.
succeeds() {
    local output
    # shellcheck disable=SC2016 # expanded by the inner shell
    output=$("${locked[@]}" sh -c '"$@" && echo it-did' sh "$@" 2>"$work/inside.log") || true
    [[ "$output" == *it-did ]]
}

# lacks SERVICE MODULE...: what the service has no use for is not in its image.
lacks() {
    # shellcheck disable=SC2016 # Python's
    succeeds python -c '
import sys
from importlib.util import find_spec
sys.exit(" ".join(filter(find_spec, sys.argv[1:])) or 0)
' "${@:2}" || die "$1: in the image without need: $(grep -vE '^\s|^$|goroutine' "$work/inside.log" | head -n 5)"
}

# What the image says of itself must hold: its health check, its user, its file system.
inspect_running() {
    local service="$1" test=()
    mapfile -t test < <(run_buildah inspect --format \
        '{{range .Docker.Config.Healthcheck.Test}}{{println .}}{{end}}' "$container" | grep .)
    [[ "${test[0]:-}" == CMD ]] || die "$service: the image has no health check"
    succeeds "${test[@]:1}" || die "$service: the image's health check says no"
    succeeds python -c '
import os, pathlib, sys
assert os.getuid() == 10001, "runs as root"
for folder in ("/", "/opt/askem", "/usr"):
    try:
        pathlib.Path(folder, "written").touch()
    except OSError:
        continue
    sys.exit(f"{folder} can be written")
' || die "$service is not closed: $(grep -vE '^\s|^$|goroutine' "$work/inside.log" | head -n 5)"
    succeeds python -c 'import os; assert os.environ["OPENBLAS_NUM_THREADS"] == "1"' ||
        die "$service: OpenBLAS may start threads"
    lacks "$service" torch langchain hatchling
    [[ "$service" != agent ]] || lacks "$service" elasticsearch weaviate onnxruntime tantivy
    [[ "$service" != retriever && "$service" != ingest ]] || lacks "$service" langchain_core askem_agent
}

# As a cluster does: SIGTERM to the container's first process, time to finish, then by force.
stop_server() {
    local deadline=$((SECONDS + 60)) pid
    pid=$(pgrep --session "$server" --full '/bin/askem' | tail -n 1) || pid="$server"
    kill -TERM "$pid" 2>/dev/null || true
    while kill -0 "$pid" 2>/dev/null && ((SECONDS < deadline)); do
        sleep 0.1
    done
    sleep 0.3
    kill -KILL -- "-$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
    server=
}

try_service() {
    local service="$1" began size
    began=$(date +%s.%N)
    build "$service"
    size=$(run_buildah images --format '{{.Size}}' "askem-$service")
    say "built    askem-$service  $size  $(seconds_since "$began") s"
    port=$(python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
    began=$(date +%s.%N)
    start "$service"
    await_health "$service"
    say "healthy  askem-$service  $(seconds_since "$began") s after its start"
    inspect_running "$service"
    stop_server
    grep -q '^Stopped\.$' "$work/$service.log" || die "$service did not stop clean: $(tail -n 5 "$work/$service.log")"
    say "stopped  askem-$service  clean, on SIGTERM"
    run_buildah rm "$container" >/dev/null
}

main() {
    base=python:3.12-slim keep=no
    local services=()
    while [[ $# -gt 0 ]]; do
        case "$1" in
        --base)
            base="${2:?--base what?}"
            shift
            ;;
        --keep) keep=yes ;;
        -h | --help)
            usage
            exit
            ;;
        retriever | ingest | agent | one-host) services+=("$1") ;;
        *)
            usage >&2
            die "no such option or service: $1"
            ;;
        esac
        shift
    done
    [[ ${#services[@]} -gt 0 ]] || services=(retriever ingest agent one-host)
    need buildah python3 unshare setsid
    [[ $EUID -eq 0 ]] || die "must run as root: it mounts the image read-only"
    mkdir -p "$cache"
    work=$(mktemp -d)
    storage="$work/storage"
    [[ "$keep" == no ]] || storage="$cache/storage"
    key=$(python3 -c 'import secrets; print(secrets.token_urlsafe(24))')
    trap clean_up EXIT
    [[ "$base" != debootstrap ]] || make_base
    local service
    for service in "${services[@]}"; do
        try_service "$service"
    done
}

main "$@"
