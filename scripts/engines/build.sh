# Builds the engines, each once per version and recipe, for scripts/engines.sh.
# shellcheck shell=bash disable=SC2154 # names are shared by the files

readonly weaviate_recipe="$root/deploy/engines/weaviate"
readonly elasticsearch_recipe="$root/deploy/engines/elasticsearch"
readonly java_needed=25

weaviate_version() {
    sed -n 's|.*github.com/weaviate/weaviate v\([0-9.]*\).*|\1|p' "$weaviate_recipe/go.mod"
}

elasticsearch_version() {
    sed -n 's|.*<elasticsearch.version>\(.*\)</elasticsearch.version>.*|\1|p' "$elasticsearch_recipe/pom.xml"
}

weaviate_home() { printf '%s' "$cache/weaviate-$(weaviate_version)"; }

elasticsearch_home() { printf '%s' "$cache/elasticsearch-$(elasticsearch_version)"; }

# A folder is there only when it is whole; it is built again when its recipe has changed.
is_built() {
    [[ -e "$1/recipe" && "$(<"$1/recipe")" == "$(recipe_of "$2")" ]]
}

recipe_of() {
    (cd "$1" && find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -d' ' -f1)
}

# built_in HOME RECIPE FUNCTION: makes HOME of what FUNCTION puts into a folder beside it.
built_in() {
    local home="$1" recipe="$2" fill="$3" fresh="$1.building"
    rm -rf "$fresh"
    mkdir -p "$fresh"
    "$fill" "$fresh"
    recipe_of "$recipe" >"$fresh/recipe"
    rm -rf "$home"
    mv "$fresh" "$home"
}

build_weaviate() {
    is_built "$(weaviate_home)" "$weaviate_recipe" && return
    ! runs weaviate || die "weaviate runs, and its recipe has changed; first: scripts/engines.sh stop weaviate"
    say "Building Weaviate $(weaviate_version) (once; about 5 minutes on two cores)"
    built_in "$(weaviate_home)" "$weaviate_recipe" compile_weaviate
}

compile_weaviate() {
    (
        cd "$weaviate_recipe"
        CGO_ENABLED=0 nice -n 10 go build -mod=readonly -trimpath -buildvcs=false -ldflags='-s -w' \
            -o "$1/weaviate-server" github.com/weaviate/weaviate/cmd/weaviate-server
    ) >"$cache/go.log" 2>&1 || {
        tail -n 20 "$cache/go.log" >&2
        die "building Weaviate failed; all that Go said is in $cache/go.log"
    }
}

# need_tools ENGINE...: names all that is missing, before anything is built or stopped.
need_tools() {
    local engine complete=1
    for engine in "$@"; do
        case "$engine" in
        weaviate) is_built "$(weaviate_home)" "$weaviate_recipe" || (need_go) || complete=0 ;;
        elasticsearch)
            (need_java) || complete=0
            is_built "$(elasticsearch_home)" "$elasticsearch_recipe" || (need_maven) || complete=0
            ;;
        esac
    done
    ((complete)) || exit 1
}

need_go() {
    local version
    version=$(sed -n 's/^go //p' "$weaviate_recipe/go.mod")
    command -v go >/dev/null || die "Weaviate is built with Go $version or newer: please install Go"
    (cd "$weaviate_recipe" && go list -m >/dev/null 2>&1) ||
        die "Weaviate is built with Go $version or newer: please install that; this is $(cd / && go version)"
}

build_elasticsearch() {
    is_built "$(elasticsearch_home)" "$elasticsearch_recipe" && return
    ! runs elasticsearch || die "elasticsearch runs, and its recipe has changed; first: scripts/engines.sh stop elasticsearch"
    say "Fetching Elasticsearch $(elasticsearch_version) and compiling its analysis plugin (once; less than a minute)"
    built_in "$(elasticsearch_home)" "$elasticsearch_recipe" assemble_elasticsearch
}

fetch_jars() {
    # -C: a checksum that does not match fails the build.
    nice -n 10 mvn --batch-mode -C -f "$elasticsearch_recipe/pom.xml" \
        dependency:copy-dependencies -DoutputDirectory="$1" >"$cache/maven.log" 2>&1 || {
        tail -n 20 "$cache/maven.log" >&2
        die "fetching Elasticsearch failed; all that Maven said is in $cache/maven.log"
    }
}

checksums_of() { (cd "$1" && LC_ALL=C && sha256sum -- *.jar); }

assemble_elasticsearch() {
    local home="$1" netty="$1/modules/transport-netty4" plugin="$1/plugins/askem-analysis"
    fetch_jars "$home/lib"
    diff "$elasticsearch_recipe/jars.sha256" <(checksums_of "$home/lib") >&2 ||
        die "the jars are not those of deploy/engines/elasticsearch/jars.sha256 (< expected, > fetched)"
    mkdir -p "$netty" "$plugin" "$home/launcher"
    mv "$home"/lib/netty-*.jar "$home"/lib/transport-netty4-*.jar "$netty"
    python3 - "$netty" <<'PYTHON'
import pathlib
import sys
import zipfile

folder = pathlib.Path(sys.argv[1])
inside = "META-INF/es-plugins/transport-netty4/"
with zipfile.ZipFile(next(folder.glob("transport-netty4-*.jar"))) as jar:
    for name in ("plugin-descriptor.properties", "entitlement-policy.yaml"):
        (folder / name).write_bytes(jar.read(inside + name))
PYTHON
    compile_java "$home" "$plugin"
    sed "s/@VERSION@/$(elasticsearch_version)/" "$elasticsearch_recipe/plugin-descriptor.properties.in" \
        >"$plugin/plugin-descriptor.properties"
}

compile_java() {
    local java_home
    java_home=$(find_java)
    mkdir "$1/classes"
    nice -n 10 "$java_home/bin/javac" -proc:none -nowarn -cp "$1/lib/*" -d "$1/classes" \
        "$elasticsearch_recipe"/src/askem/engines/*.java || die "compiling for Elasticsearch failed"
    mkdir -p "$1/launcher/askem/engines"
    mv "$1/classes/askem/engines/StartNode.class" "$1/launcher/askem/engines/"
    python3 -c 'import shutil, sys; shutil.make_archive(sys.argv[1], "zip", sys.argv[2])' \
        "$2/askem-analysis" "$1/classes"
    mv "$2/askem-analysis.zip" "$2/askem-analysis.jar"
    rm -r "$1/classes"
}

rewrite_checksums() {
    need_maven
    local jars="$cache/jars.building"
    rm -rf "$jars"
    fetch_jars "$jars"
    checksums_of "$jars" >"$elasticsearch_recipe/jars.sha256"
    rm -rf "$jars"
}

need_maven() {
    command -v mvn >/dev/null || die "Elasticsearch's jars are fetched with Maven: please install Maven (Debian: maven)"
}

need_java() { find_java >/dev/null; }

# The folder of a JDK that is new enough: one named in the environment, or one that stands around.
find_java() {
    local candidate
    for candidate in "${ASKEM_ENGINES_JAVA_HOME:-}" "${JAVA_HOME:-}" \
        /usr/lib/jvm/* /opt/*jdk* /opt/java/* "$HOME"/.sdkman/candidates/java/* "$HOME"/.jdks/* \
        /Library/Java/JavaVirtualMachines/*/Contents/Home "$(java_on_path)"; do
        if [[ -n "$candidate" && -x "$candidate/bin/javac" ]] && [[ $(java_major "$candidate") -ge $java_needed ]]; then
            printf '%s' "$candidate"
            return
        fi
    done
    die "Elasticsearch needs a JDK $java_needed or newer: please install one (Debian: openjdk-$java_needed-jdk or" \
        "temurin-$java_needed-jdk), or name its folder in ASKEM_ENGINES_JAVA_HOME"
}

java_on_path() {
    local found
    found=$(command -v javac) && dirname "$(dirname "$(readlink -f "$found")")"
}

java_major() {
    "$1/bin/javac" -version 2>&1 | sed -n 's/^javac \([0-9]*\).*/\1/p'
}
