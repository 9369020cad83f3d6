# Settings, keys and messages of scripts/engines.sh.
# shellcheck shell=bash disable=SC2034,SC2154 # names are shared by the files

readonly engines=(weaviate elasticsearch)
# Without links: several checkouts may share it, and each must know what another has started.
cache=$(realpath -m "${ASKEM_ENGINES_CACHE:-$root/.cache/engines}")
readonly cache
readonly run_dir="$cache/run"
readonly settings_file="$cache/settings" # the lasting ones, from `up` or `start` until `down`
readonly keys_file="$cache/keys"         # made once, kept when the data is thrown away
readonly lasting=( # what all commands must know alike until `down`
    WEAVIATE_PORT WEAVIATE_GRPC_PORT WEAVIATE_CLUSTER_PORT
    ELASTICSEARCH_PORT ELASTICSEARCH_NODE_PORT ELASTICSEARCH_TRANSPORT_PORT
    WEAVIATE_APIKEY WEAVIATE_READ_APIKEY ELASTICSEARCH_APIKEY ELASTICSEARCH_READ_APIKEY
)
# From the environment (with ASKEM_ENGINES_ before the name), else from the file, else the default.
declare -A setting

say() { printf '%s\n' "$*"; }

die() {
    printf 'engines: %s\n' "$*" >&2
    exit 1
}

defaults() {
    setting=(
        [WEAVIATE_PORT]=14510
        [WEAVIATE_GRPC_PORT]=14511
        [WEAVIATE_CLUSTER_PORT]=14512 # the first of four
        [ELASTICSEARCH_PORT]=14520    # where keys are checked
        [ELASTICSEARCH_NODE_PORT]=14521
        [ELASTICSEARCH_TRANSPORT_PORT]=14522
        [ELASTICSEARCH_HEAP]=512m
        [TIMEOUT_S]=120
    )
}

prepare() {
    mkdir -p "$cache"
    local tool missing=()
    for tool in python3 curl flock setsid sha256sum; do
        command -v "$tool" >/dev/null || missing+=("$tool")
    done
    [[ ${#missing[@]} -eq 0 ]] || die "these are missing, please install them: ${missing[*]}"
    load_settings
}

load_settings() {
    [[ -s "$keys_file" ]] || make_keys
    defaults
    read_settings "$keys_file"
    [[ ! -e "$settings_file" ]] || read_settings "$settings_file"
    local name variable
    for name in "${lasting[@]}" ELASTICSEARCH_HEAP TIMEOUT_S; do
        variable="ASKEM_ENGINES_$name"
        [[ -z "${!variable:-}" ]] || setting[$name]="${!variable}"
        case "$name" in
        *_PORT | TIMEOUT_S)
            [[ "${setting[$name]}" =~ ^[1-9][0-9]{0,4}$ ]] ||
                die "$variable is not a number that can be: ${setting[$name]}"
            ;;
        *_APIKEY)
            [[ "${setting[$name]}" =~ ^[A-Za-z0-9._~+/=-]{16,}$ ]] ||
                die "$variable must be 16 or more of A-Z a-z 0-9 . _ ~ + / = -"
            ;;
        esac
    done
}

read_settings() {
    local name value
    while IFS='=' read -r name value; do
        setting[$name]="$value"
    done <"$1"
}

save_settings() {
    local name
    (
        umask 077
        for name in "${lasting[@]}"; do
            printf '%s=%s\n' "$name" "${setting[$name]}"
        done >"$settings_file.new"
    )
    mv "$settings_file.new" "$settings_file"
}

# An engine that runs cannot change its ports or keys.
check_unchanged() {
    [[ -e "$settings_file" ]] || return 0
    local name value engine
    while IFS='=' read -r name value; do
        for engine in "${engines[@]}"; do
            if [[ "$name" == "${engine^^}"_* && "$value" != "${setting[$name]}" ]] && runs "$engine"; then
                die "$engine runs with another ASKEM_ENGINES_$name; stop it first: scripts/engines.sh stop $engine"
            fi
        done
    done <"$settings_file"
}

# Elasticsearch's keys have the form of its own: base64 of an id and a secret.
make_keys() {
    (
        umask 077
        python3 >"$keys_file.new" <<'PYTHON'
import base64
import secrets


def elasticsearch_key() -> str:
    return base64.b64encode(f"{secrets.token_hex(10)}:{secrets.token_hex(11)}".encode()).decode()


print(f"WEAVIATE_APIKEY={secrets.token_hex(20)}")
print(f"WEAVIATE_READ_APIKEY={secrets.token_hex(20)}")
print(f"ELASTICSEARCH_APIKEY={elasticsearch_key()}")
print(f"ELASTICSEARCH_READ_APIKEY={elasticsearch_key()}")
PYTHON
    )
    mv "$keys_file.new" "$keys_file"
}
