# Starts, stops and watches the engines' processes for scripts/engines.sh.
# shellcheck shell=bash disable=SC2154 # names are shared by the files

# Elasticsearch is two processes: the node, and key-proxy, which checks keys before it.
readonly free_s=5  # how long a port is waited for: a process that was killed may hold it yet
readonly stop_s=30 # how long a process may take to end before it is killed
declare -rA marks=(
    [weaviate]="$cache/weaviate-"
    [elasticsearch]="$run_dir/elasticsearch/config"
    [key-proxy]=/scripts/engines/key_proxy.py
)

pid_of() { cat "$run_dir/$1.pid" 2>/dev/null; }

# Whether a process of ours runs; the pid in a stale file may be somebody else's by now.
runs() {
    local pid
    pid=$(pid_of "$1") && [[ "$pid" =~ ^[0-9]+$ ]] &&
        [[ "$(ps -ww -o args= -p "$pid" 2>/dev/null)" == *"${marks[$1]}"* ]]
}

is_paused() { [[ "$(ps -o state= -p "$(pid_of "$1")" 2>/dev/null)" == T* ]]; }

launch() {
    mkdir -p "$run_dir"
    if runs "$1"; then
        is_paused "$1" && resume "$1"
    else
        "launch_$1"
    fi
    [[ "$1" != elasticsearch ]] || runs key-proxy || launch_key_proxy
}

# spawn NAME COMMAND...: in the background, in a session of its own, without our lock.
spawn() {
    local name="$1"
    shift
    (exec setsid "$@" </dev/null >"$run_dir/$name.log" 2>&1 9>&-) &
    echo "$!" >"$run_dir/$name.pid"
}

launch_weaviate() {
    local cluster="${setting[WEAVIATE_CLUSTER_PORT]}"
    say "Starting Weaviate $(weaviate_version)"
    (
        export PERSISTENCE_DATA_PATH="$run_dir/weaviate" GRPC_PORT="${setting[WEAVIATE_GRPC_PORT]}"
        export DEFAULT_VECTORIZER_MODULE=none ENABLE_MODULES='' DISABLE_TELEMETRY=true
        export AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED=false AUTHENTICATION_APIKEY_ENABLED=true
        export AUTHENTICATION_APIKEY_ALLOWED_KEYS="${setting[WEAVIATE_APIKEY]},${setting[WEAVIATE_READ_APIKEY]}"
        export AUTHENTICATION_APIKEY_USERS=writer,reader
        export AUTHORIZATION_ADMINLIST_ENABLED=true AUTHORIZATION_ADMINLIST_USERS=writer
        export AUTHORIZATION_ADMINLIST_READONLY_USERS=reader
        export CLUSTER_HOSTNAME=engine CLUSTER_ADVERTISE_ADDR=127.0.0.1 CLUSTER_BIND_ADDR=127.0.0.1
        # Weaviate has its gRPC and data ports on every address, whatever it is told: keys on both.
        export CLUSTER_BASIC_AUTH_USERNAME=engine CLUSTER_BASIC_AUTH_PASSWORD="${setting[WEAVIATE_APIKEY]}"
        export CLUSTER_GOSSIP_BIND_PORT="$cluster" CLUSTER_DATA_BIND_PORT="$((cluster + 1))"
        export RAFT_PORT="$((cluster + 2))" RAFT_INTERNAL_RPC_PORT="$((cluster + 3))"
        export GOMAXPROCS=2 GO_PROFILING_DISABLE=true LOG_LEVEL=warning
        # A developer's disk may be nearly full.
        export DISK_USE_WARNING_PERCENTAGE=100 DISK_USE_READONLY_PERCENTAGE=100
        spawn weaviate "$(weaviate_home)/weaviate-server" \
            --scheme http --host 127.0.0.1 --port "${setting[WEAVIATE_PORT]}"
    )
}

launch_elasticsearch() {
    local home="$run_dir/elasticsearch" code java_home
    code=$(elasticsearch_home)
    java_home=$(find_java)
    say "Starting Elasticsearch $(elasticsearch_version)"
    rm -rf "$home/tmp"
    mkdir -p "$home/config" "$home/data" "$home/logs" "$home/tmp"
    write_elasticsearch_yml >"$home/config/elasticsearch.yml"
    spawn elasticsearch "$java_home/bin/java" \
        -Xms"${setting[ELASTICSEARCH_HEAP]}" -Xmx"${setting[ELASTICSEARCH_HEAP]}" -XX:+ExitOnOutOfMemoryError \
        -Djava.awt.headless=true -Djava.io.tmpdir="$home/tmp" -Des.logs.base_path="$home/logs" \
        -Dlog4j.shutdownHookEnabled=false -Dlog4j2.disable.jmx=true -Dio.netty.noUnsafe=true \
        --enable-native-access=ALL-UNNAMED,org.elasticsearch.nativeaccess,org.apache.lucene.core \
        --module-path "$code/lib" \
        --add-modules jdk.incubator.vector,jdk.net,org.elasticsearch.server,ALL-MODULE-PATH \
        -cp "$code/launcher" askem.engines.StartNode "$code" "$home/config"
}

write_elasticsearch_yml() {
    cat <<YAML
cluster.name: askem-engines
node.name: engine
node.processors: 2
discovery.type: single-node
network.host: 127.0.0.1
http.port: ${setting[ELASTICSEARCH_NODE_PORT]}
transport.port: ${setting[ELASTICSEARCH_TRANSPORT_PORT]}
path.data: $run_dir/elasticsearch/data
path.logs: $run_dir/elasticsearch/logs
# A developer's disk may be nearly full.
cluster.routing.allocation.disk.threshold_enabled: false
YAML
}

launch_key_proxy() {
    (
        export WRITE_KEY="${setting[ELASTICSEARCH_APIKEY]}" READ_KEY="${setting[ELASTICSEARCH_READ_APIKEY]}"
        spawn key-proxy python3 "$root/scripts/engines/key_proxy.py" \
            "${setting[ELASTICSEARCH_PORT]}" "${setting[ELASTICSEARCH_NODE_PORT]}"
    )
}

need_ports() {
    case "$1" in
    weaviate) runs weaviate || need_free WEAVIATE_PORT WEAVIATE_GRPC_PORT WEAVIATE_CLUSTER_PORT+{0..3} ;;
    elasticsearch)
        runs elasticsearch || need_free ELASTICSEARCH_NODE_PORT ELASTICSEARCH_TRANSPORT_PORT
        runs key-proxy || need_free ELASTICSEARCH_PORT
        ;;
    esac
}

# need_free NAME...: each a setting's name, or NAME+N for the Nth port after it.
need_free() {
    local name ports=()
    for name in "$@"; do
        ports+=("$name=$((setting[${name%+*}] + $([[ "$name" == *+* ]] && echo "${name#*+}" || echo 0)))")
    done
    python3 - "$free_s" "${ports[@]}" <<'PYTHON' || exit 1
import socket
import sys
import time


def bind(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", port))


deadline = time.monotonic() + float(sys.argv[1])
for pair in sys.argv[2:]:
    name, port = pair.split("=")
    while True:
        try:
            bind(int(port))
            break
        except (OSError, OverflowError) as failure:
            if time.monotonic() < deadline:
                time.sleep(0.2)
                continue
            sys.exit(
                f"engines: port {port} cannot be had ({failure}); something else may be using it. "
                f"Choose another with ASKEM_ENGINES_{name.partition('+')[0]}"
            )
PYTHON
}

# get URL [HEADER]: quiet; the key goes by standard input, where no `ps` shows it.
get() { curl --silent --fail --noproxy '*' --max-time 3 --output /dev/null --config - "$1" <<<"${2:+header = \"$2\"}"; }

is_ready() {
    case "$1" in
    weaviate)
        get "http://127.0.0.1:${setting[WEAVIATE_PORT]}/v1/.well-known/ready" &&
            get "http://127.0.0.1:${setting[WEAVIATE_PORT]}/v1/meta" "Authorization: Bearer ${setting[WEAVIATE_APIKEY]}" &&
            (exec 3<>"/dev/tcp/127.0.0.1/${setting[WEAVIATE_GRPC_PORT]}") 2>/dev/null
        ;;
    elasticsearch)
        runs key-proxy &&
            get "http://127.0.0.1:${setting[ELASTICSEARCH_PORT]}/_cluster/health?wait_for_status=yellow&timeout=1s" \
                "Authorization: ApiKey ${setting[ELASTICSEARCH_APIKEY]}"
        ;;
    esac
}

await() {
    local begun=$SECONDS told=$SECONDS
    until is_ready "$1"; do
        sleep 0.5
        runs "$1" || failed "$1" "$1" "$1 ended while it was starting"
        [[ "$1" != elasticsearch ]] || runs key-proxy ||
            failed "$1" key-proxy "the key proxy ended while it was starting"
        ((SECONDS - begun < setting[TIMEOUT_S])) ||
            failed "$1" "$1" "$1 is not ready after ${setting[TIMEOUT_S]} s (ASKEM_ENGINES_TIMEOUT_S)"
        if ((SECONDS - told >= 10)); then
            told=$SECONDS
            say "Waiting for $1 ($((SECONDS - begun)) s)"
        fi
    done
    describe "$1"
}

# failed ENGINE PROCESS WHAT
failed() {
    tail -n 20 "$run_dir/$2.log" >&2
    halt "$1"
    die "$3; its last lines are above, all of them in $run_dir/$2.log"
}

halt() {
    [[ "$1" != elasticsearch ]] || terminate key-proxy
    terminate "$1"
}

terminate() {
    local pid deadline=$((SECONDS + stop_s))
    if runs "$1"; then
        pid=$(pid_of "$1")
        say "Stopping $1 (pid $pid)"
        kill -TERM "$pid"
        kill -CONT "$pid" 2>/dev/null || true
        while runs "$1"; do
            if ((SECONDS >= deadline)); then
                say "$1 does not end; killing it"
                kill -KILL "$pid" 2>/dev/null || true
                deadline=$((SECONDS + stop_s))
            fi
            sleep 0.1
        done
    fi
    rm -f "$run_dir/$1.pid"
}

# Of Elasticsearch the node alone; its key proxy lives on.
crash() {
    local pid
    runs "$1" || die "$1 does not run"
    pid=$(pid_of "$1")
    kill -KILL "$pid"
    while kill -0 "$pid" 2>/dev/null && [[ "$(ps -o state= -p "$pid")" != Z* ]]; do sleep 0.05; done
}

pause() {
    runs "$1" || die "$1 does not run"
    kill -STOP "$(pid_of "$1")"
    until is_paused "$1"; do sleep 0.05; done
}

resume() {
    runs "$1" || die "$1 does not run"
    kill -CONT "$(pid_of "$1")"
    while is_paused "$1"; do sleep 0.05; done
}

# A line on an engine; true when it is ready.
describe() {
    local state=stopped where version
    version=$("$1_version")
    case "$1" in
    weaviate) where="http ${setting[WEAVIATE_PORT]}, grpc ${setting[WEAVIATE_GRPC_PORT]}" ;;
    elasticsearch) where="http ${setting[ELASTICSEARCH_PORT]}, key proxy's pid $(runs key-proxy && pid_of key-proxy || echo none)" ;;
    esac
    if runs "$1"; then
        state='not ready'
        if is_paused "$1"; then
            state=paused
        elif is_ready "$1"; then
            state=ready
        fi
        where="pid $(pid_of "$1"), $where"
    fi
    printf '%-14s %-8s %-10s %s\n' "$1" "$version" "$state" "$where"
    [[ "$state" == ready ]]
}
