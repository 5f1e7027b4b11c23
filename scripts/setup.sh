# Installs the packages that a bare Debian 12 or Ubuntu 24.04 lacks. Sourced by scripts/demo and scripts/test.

heddle_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# heddle_as_root COMMAND...: with sudo, unless this is root already.
heddle_as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  else
    sudo "$@"
  fi
}

# heddle_need PACKAGE...: install those that are missing, with the distribution's packages.
heddle_need() {
  local missing=() package
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null)" = 'install ok installed' ] || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
    echo "missing packages, and no sudo to install them: ${missing[*]}" >&2
    return 1
  fi
  echo "installing: ${missing[*]}" >&2
  heddle_as_root apt-get update -q >&2
  heddle_as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" >&2
}

heddle_setup() {
  command -v dpkg-query >/dev/null || { echo "these scripts set up Debian and Ubuntu; elsewhere see CONTRIBUTING.md, Building" >&2; return 1; }
  heddle_need gcc g++ libc6-dev cmake ninja-build pkg-config libzstd-dev liblz4-dev libjansson-dev \
    libtomlplusplus-dev libisl-dev libgmp-dev libsqlite3-dev nettle-dev libcmocka-dev "$@"
  # Kernels in CUDA C need a compiler: nvcc where there is one, else the distribution's clang.
  command -v nvcc >/dev/null || heddle_need clang
}

# heddle_setup_checks: the tools that format, lint and check the code. One version of clang's tools, that of Debian 12, because
# each version lays code out in its own way.
heddle_setup_checks() {
  heddle_need python3-minimal python3-dev clang-format-14 jq
  heddle_need python3-numpy mypy python3-nbclient python3-ipykernel ||
    echo "no NumPy, mypy or nbclient: the Python package's page, notebook and types are not tested" >&2
  heddle_need libopenmpi-dev openmpi-bin || echo "no MPI: heddle-mpi is neither built nor tested" >&2
  heddle_need chromium-headless-shell || echo "no Chromium: nothing will look at pages" >&2
  heddle_need clang-tidy-14 || echo "no clang-tidy 14: scripts/check-tidy will check nothing" >&2
}

# heddle_setup_fuzz: clang with libFuzzer and the sanitizers, which are a package of their own.
heddle_setup_fuzz() {
  heddle_need clang
  heddle_need "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
}

# heddle_quietly COMMAND...: its output only if it fails.
heddle_quietly() {
  local log rc=0
  log=$(mktemp)
  "$@" >"$log" 2>&1 || rc=$?
  [ $rc -eq 0 ] || cat "$log" >&2
  rm -f "$log"
  return $rc
}

# heddle_progress COMMAND...: a build. On a terminal ninja keeps one line; elsewhere every 40th of its steps has a line, and
# so has all that it says besides.
heddle_progress() {
  if [ -t 1 ]; then
    "$@"
  else
    "$@" | awk '!/^\[[0-9]+\/[0-9]+\]/ || n++ % 40 == 0 { print; fflush() }'
  fi
}

# heddle_configure PRESET: under build/PRESET.
heddle_configure() {
  echo "configuring build/$1" >&2
  (cd "$heddle_root" && heddle_quietly cmake --preset "$1")
}

# heddle_build PRESET [target...]: configure and build.
heddle_build() {
  local preset=$1
  shift
  heddle_configure "$preset" || return
  echo "building build/$preset" >&2
  (cd "$heddle_root" && set -o pipefail && heddle_progress cmake --build --preset "$preset" ${1:+--target "$@"})
}
