# shellcheck shell=bash
# Functions that the scripts share. This file is sourced, not run.

# shellcheck disable=SC2034 # for those who source it
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '▸ %s\n' "$*" >&2; }

fail() {
    printf '✘ %s\n' "$*" >&2
    exit 1
}

# Runs a step quietly: its output is shown only if it fails, and kept in a file either way.
quietly() {
    local log=$1
    shift
    mkdir -p "$(dirname "$log")"
    "$@" >"$log" 2>&1 || {
        local code=$?
        cat "$log" >&2
        return $code
    }
}

# For debug builds: an index of the source code that leaves out the modules of the system, whose indexing takes up to a third of the
# compiler's time. Without any index (`--disable-index-store`), SwiftPM can't link the tests. SwiftPM compiles everything again after
# a build with other options, so all scripts that share a folder use these.
lean_index=(-Xswiftc -index-ignore-system-modules)

# The folder of release builds without traits, of this package and of Examples: most of their modules are the same.
# shellcheck disable=SC2034
optimised=$root/.build-optimised

# Prints the failures in the output of a test run once more, at the end, where they are found.
show_failures() { # log
    grep -a '^✘' "$1" | tail -40 >&2 || true
}

# Whether sessions are read from /proc. Where there is none, as on a Mac, Python asks the system.
has_proc() { [[ -d /proc/self && -z ${WITHOUT_PROC:-} ]]; }

# Runs a command as the leader of a new session.
in_session() {
    if has_proc; then exec setsid "$@"; fi
    exec python3 -c 'import os, sys; os.setsid(); os.execvp(sys.argv[1], sys.argv[1:])' "$@"
}

# The processes of a session, one a line. SwiftPM gives each of its children a process group of its own.
session_processes() {
    if has_proc; then
        # The fields after the name, which is in parentheses: state, parent, group, session.
        local stat line fields
        for stat in /proc/[0-9]*/stat; do
            read -r line 2>/dev/null <"$stat" || continue
            read -r -a fields <<<"${line##*) }"
            [[ ${fields[3]} != "$1" || ${fields[0]} == Z ]] || echo "${line%% *}"
        done
    else
        ps -axo pid=,stat= | awk '$2 !~ /^Z/ { print $1 }' | python3 -c '
import os, sys
for pid in map(int, sys.stdin):
    try:
        if os.getsid(pid) == int(sys.argv[1]): print(pid)
    except OSError:
        pass  # it has ended' "$1"
    fi
}

# Kills all processes of a session.
end_session() {
    local left
    # Repeated, because a process may have started another one before it was killed.
    while left=$(session_processes "$1") && [[ -n $left ]]; do
        # shellcheck disable=SC2086 # one argument a process
        kill -KILL $left 2>/dev/null || true
    done
}

# Runs a command with a limit in seconds; returns 124 if the limit passes. Leaves none of the command's processes behind,
# whether the limit passes, the command ends or this script is interrupted.
limited() {
    local limit=$1 session traps code=0 start=$SECONDS
    shift
    (in_session "$@") &
    session=$!
    traps=$(trap -p INT TERM HUP) # the caller's; its EXIT trap stays
    # shellcheck disable=SC2064 # the session of now
    trap "end_session $session; exit 130" INT TERM HUP
    # Bash reaps the command when it ends, and from then on the signal finds no process.
    while kill -0 "$session" 2>/dev/null && ((SECONDS - start < limit)); do sleep 0.2; done
    if kill -0 "$session" 2>/dev/null; then
        end_session "$session"
        wait "$session" 2>/dev/null || code=124
    else
        wait "$session" || code=$?
        end_session "$session"
    fi
    trap - INT TERM HUP
    eval "$traps"
    return "$code"
}

# Starts a command beside the ones that follow; its output goes to a file. It ends with the script at the latest. There is one at a
# time. With job control, the command and what it starts can be interrupted.
beside='' beside_log=''
start_beside() { # log, command…
    beside_log=$1
    shift
    trap '[[ -z $beside ]] || kill -- "-$beside" 2>/dev/null || true' EXIT
    set -m
    "$@" >"$beside_log" 2>&1 &
    beside=$!
    set +m
}

# Waits for that command. Returns its code, and shows its output if it has failed.
await_beside() {
    local code=0
    wait "$beside" || code=$?
    beside=''
    [[ $code -eq 0 ]] || cat "$beside_log" >&2
    return "$code"
}

# The C libraries that the package needs: their names for pkg-config and their Debian packages.
libraries='sqlite3:libsqlite3-dev libjpeg:libjpeg-dev libpng:libpng-dev libwebp:libwebp-dev lcms2:liblcms2-dev
    libcurl:libcurl4-openssl-dev zlib:zlib1g-dev libbrotlidec:libbrotli-dev libzstd:libzstd-dev'

# All traits of the package. Builds with the same traits can share a folder.
all_traits=AVIF,HEIC,JXL,SVG,Valkey

# The Debian packages that the Swift toolchain itself needs, to run and to link.
toolchain_packages='binutils ca-certificates g++ git libc6-dev libcurl4-openssl-dev libncurses-dev libsqlite3-dev
    libxml2-dev pkg-config tzdata zlib1g-dev'

# The Debian packages that are missing, one a line.
missing_packages() {
    local library
    if ! swift --version >/dev/null 2>&1 || ! command -v ld >/dev/null ||
        ! compgen -G '/usr/lib/gcc/*/*/crtbegin.o' >/dev/null; then
        tr -s ' \n' '\n' <<<"$toolchain_packages"
    fi
    command -v pkg-config >/dev/null || echo pkg-config
    for library in $libraries; do
        pkg-config --exists "${library%%:*}" 2>/dev/null || echo "${library##*:}"
    done
}

install_packages() {
    local as_root=()
    if [[ $EUID -ne 0 ]]; then
        command -v sudo >/dev/null || fail "Please have root run: apt-get install $*"
        as_root=(sudo)
    fi
    say "Installing the Debian packages $*"
    local log
    log=$(mktemp)
    if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends "$@" >"$log" 2>&1; then
        "${as_root[@]}" apt-get update >"$log" 2>&1 || true
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y --no-install-recommends "$@" >>"$log" 2>&1 || {
            cat "$log" >&2
            fail "apt-get could not install them."
        }
    fi
    rm -f "$log"
}

# Installs missing packages, and says so. Asks for root only if a package is missing.
need_packages() {
    [[ $(uname) == Linux ]] || return 0
    command -v swift >/dev/null || fail "There is no Swift here. Version 6.3 is at https://www.swift.org/install/linux"
    local missing
    mapfile -t missing < <(missing_packages | LC_ALL=C sort -u)
    [[ ${#missing[@]} -gt 0 ]] || return 0
    command -v apt-get >/dev/null ||
        fail "There is no apt-get here. Please install what your system has in place of these Debian packages: ${missing[*]}"
    install_packages "${missing[@]}"
    swift --version >/dev/null 2>&1 || fail "swift does not start: $(swift --version 2>&1 | head -1)"
}

# Installs a Redis or Valkey server if there is none, and says so. The scripts start servers of their own: they never use the one
# that Debian starts after the installation.
need_redis() {
    [[ $(uname) == Linux ]] || return 0
    [[ -x /usr/bin/redis-server || -x /usr/bin/valkey-server ]] || install_packages redis-server
}

# The package's own modules that the sources in a folder export, one a line.
exported_modules() {
    find "$1" -name '*.swift' -exec sed -nE 's/^ *@_exported (public )?import ([A-Za-z]+).*/\2/p' {} + |
        sed '/^Foundation/d' | LC_ALL=C sort -u
}

# Writes the symbol graph of a module that has been built: its public symbols with their comments.
extract_symbols() { # module, folder of the build, folder for the graph, options…
    local module=$1 built=$2 graph=$3 triple map options=()
    shift 3
    triple=$(swift -print-target-info | sed -n 's/.*"unversionedTriple": "\(.*\)".*/\1/p')
    for map in Sources/*/module.modulemap "$built"/*.build/module.modulemap; do
        [[ ! -e $map ]] || options+=(-Xcc "-fmodule-map-file=$map")
    done
    mkdir -p "$graph"
    swift symbolgraph-extract -module-name "$module" -target "$triple" -I "$built/Modules" "${options[@]}" \
        -minimum-access-level public -skip-synthesized-members -output-dir "$graph" "$@"
}
