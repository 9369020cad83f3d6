#!/usr/bin/env bash
# Sees that what CI needs besides make and Python is there: installs Debian's packages where it may,
# and stops with the names of what is missing where it may not.
set -euo pipefail

# nginx and debootstrap lie where only root's PATH looks.
PATH="$PATH:/usr/sbin:/sbin"
# A command, and Debian's package that has it.
readonly needed=(
    curl=curl flock=util-linux unshare=util-linux ps=procps mvn=maven
    buildah=buildah debootstrap=debootstrap nginx=nginx-light shellcheck=shellcheck
)

# Prints the packages whose commands are missing.
missing_packages() {
    local pair
    for pair in "${needed[@]}"; do
        command -v "${pair%%=*}" >/dev/null || printf '%s\n' "${pair#*=}"
    done | sort -u
}

install_packages() {
    printf 'ci_tools: installing %s\n' "$*"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

main() {
    local packages=()
    mapfile -t packages < <(missing_packages)
    if [[ ${#packages[@]} -gt 0 && $EUID -eq 0 ]] && command -v apt-get >/dev/null; then
        install_packages "${packages[@]}"
        mapfile -t packages < <(missing_packages)
    fi
    if [[ ${#packages[@]} -gt 0 ]]; then
        printf 'ci_tools: missing; as root: apt-get install %s\n' "${packages[*]}" >&2
        exit 1
    fi
    # Debian's is older than deploy/*/go.mod asks for. The JDK is looked for by scripts/engines.sh.
    command -v go >/dev/null || {
        printf 'ci_tools: missing: Go, from go.dev/dl or your distribution (see deploy/engines/weaviate/go.mod)\n' >&2
        exit 1
    }
    [[ $EUID -eq 0 ]] || {
        printf 'ci_tools: CI must run as root: it starts the images on a read-only file system\n' >&2
        exit 1
    }
}

main
