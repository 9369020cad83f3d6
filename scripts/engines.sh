#!/usr/bin/env bash
# Real Weaviate and Elasticsearch for tests, without Docker: docs/engines-for-tests.md.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly root
# shellcheck source=scripts/engines/common.sh
source "$root/scripts/engines/common.sh"
# shellcheck source=scripts/engines/build.sh
source "$root/scripts/engines/build.sh"
# shellcheck source=scripts/engines/processes.sh
source "$root/scripts/engines/processes.sh"

usage() {
    cat <<'TEXT'
Usage: scripts/engines.sh COMMAND

  up [--fresh]      build what is missing, start both engines, wait until they are ready;
                    --fresh throws their data away first
  down [--wipe]     stop both; --wipe throws their data away
  restart           down, then up
  status            a line per engine; exit status 0 only when both are ready
  env               lines for eval: URLs and keys
  build             build what is missing, start nothing
  checksums         fetch Elasticsearch's jars and rewrite their list of checksums

  start ENGINE      start one and wait until it is ready
  stop ENGINE       stop one
  kill ENGINE       end one at once (SIGKILL), as a crash would
  pause ENGINE      halt one where it stands (SIGSTOP): connections open, nothing answers
  resume ENGINE     let it go on (SIGCONT)

ENGINE is weaviate or elasticsearch. Settings: docs/engines-for-tests.md.
TEXT
}

up() {
    [[ -z "$1" || "$1" == --fresh ]] || die "up takes --fresh or nothing, not $1"
    need_tools "${engines[@]}"
    [[ -z "$1" ]] || down --wipe
    build_weaviate
    build_elasticsearch
    check_unchanged
    local engine
    for engine in "${engines[@]}"; do
        need_ports "$engine"
    done
    save_settings
    for engine in "${engines[@]}"; do
        launch "$engine"
    done
    for engine in "${engines[@]}"; do
        await "$engine"
    done
    say "Both are ready. For a shell: eval \"\$(scripts/engines.sh env)\""
}

down() {
    [[ -z "$1" || "$1" == --wipe ]] || die "down takes --wipe or nothing, not $1"
    local engine
    for engine in "${engines[@]}"; do
        halt "$engine"
    done
    rm -f "$settings_file"
    [[ -z "$1" ]] || rm -rf "$run_dir"
}

start() {
    need_tools "$1"
    "build_$1"
    check_unchanged
    need_ports "$1"
    save_settings
    launch "$1"
    await "$1"
}

status() {
    local engine all_ready=0
    for engine in "${engines[@]}"; do
        describe "$engine" || all_ready=1
    done
    return "$all_ready"
}

env_lines() {
    local base=http://127.0.0.1
    printf 'export %s=%q\n' \
        WEAVIATE_URL "$base:${setting[WEAVIATE_PORT]}" \
        WEAVIATE_GRPC_URL "$base:${setting[WEAVIATE_GRPC_PORT]}" \
        WEAVIATE_APIKEY "${setting[WEAVIATE_APIKEY]}" \
        WEAVIATE_READ_APIKEY "${setting[WEAVIATE_READ_APIKEY]}" \
        ELASTICSEARCH_URL "$base:${setting[ELASTICSEARCH_PORT]}" \
        ELASTICSEARCH_APIKEY "${setting[ELASTICSEARCH_APIKEY]}" \
        ELASTICSEARCH_READ_APIKEY "${setting[ELASTICSEARCH_READ_APIKEY]}"
}

# One command at a time may change something in this cache folder.
take_turns() {
    exec 9>"$cache/lock"
    if ! flock --nonblock 9; then
        say "Another engines.sh is at work here; waiting for it"
        flock 9
    fi
    load_settings
}

one_engine() {
    [[ "${2:-}" == weaviate || "${2:-}" == elasticsearch ]] || die "$1 what: weaviate or elasticsearch?"
}

main() {
    local command="${1:-}"
    case "$command" in
    '' | help | -h | --help)
        usage
        return
        ;;
    start | stop | kill | pause | resume) one_engine "$@" ;;
    esac
    prepare
    case "$command" in
    status | env) ;;
    *) take_turns ;;
    esac
    case "$command" in
    up) up "${2:-}" ;;
    down) down "${2:-}" ;;
    restart) restart ;;
    build) build_all ;;
    checksums) rewrite_checksums ;;
    start) start "$2" ;;
    stop) halt "$2" ;;
    kill) crash "$2" ;;
    pause) pause "$2" ;;
    resume) resume "$2" ;;
    status) status ;;
    env) env_lines ;;
    *)
        usage >&2
        die "no such command: $command"
        ;;
    esac
}

restart() {
    down ''
    up ''
}

build_all() {
    need_tools "${engines[@]}"
    build_weaviate
    build_elasticsearch
}

{ # read whole before it runs: it may be edited meanwhile
    main "$@"
    exit
}
