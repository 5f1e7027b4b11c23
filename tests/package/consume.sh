#!/usr/bin/env bash
# consume.sh BUILD: the installed tree, moved to another place, as others use it: by CMake's find_package, by pkg-config, as a
# program with its data, man pages and completions.
set -eu
build=$(realpath "$1")
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cmake --install "$build" --prefix "$d/first" > "$d/log" || { tail "$d/log"; exit 1; }
mv "$d/first" "$d/moved"
config=$(dirname "$(find "$d/moved" -name heddle-config.cmake)") pc=$(dirname "$(find "$d/moved" -name heddle.pc)")
lib=$(dirname "$pc")
mkdir "$d/by-cmake"
cat > "$d/by-cmake/use.c" <<'END'
#include <stdio.h>
#include "heddle/plan.h"
int main(void) {
  hd_plan p;
  hd_diag d;
  hd_buf b = {0};
  if (hd_plan_parse("bind=agents,order=col", &p, &d) != HD_OK) return 1;
  hd_plan_print(&p, &b);
  puts(b.data);
  return 0;
}
END
sed 's/use.c/use.cpp/' "$d/by-cmake/use.c" > "$d/by-cmake/use.cpp"
cat > "$d/by-cmake/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.22)
project(use C CXX)
find_package(heddle 0.1 REQUIRED)
add_executable(use use.c)
add_executable(usepp use.cpp)
target_link_libraries(use heddle::heddle_shared)
target_link_libraries(usepp heddle::heddle_shared)
END
cmake -G Ninja -S "$d/by-cmake" -B "$d/by-cmake/build" -DCMAKE_PREFIX_PATH="$d/moved" -Dheddle_DIR="$config" > "$d/log" 2>&1 &&
  cmake --build "$d/by-cmake/build" > "$d/log" 2>&1 || { tail -20 "$d/log"; exit 1; }
for program in use usepp; do
  [ "$("$d/by-cmake/build/$program")" = order=col,bind=agents ] || { echo "FAILED  find_package: $program"; exit 1; }
done
echo "ok      find_package, in C and C++"
cc -Wall -Werror "$d/by-cmake/use.c" -o "$d/by-pkg-config" $(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs heddle)
[ "$(LD_LIBRARY_PATH=$lib "$d/by-pkg-config")" = order=col,bind=agents ] || { echo "FAILED  pkg-config"; exit 1; }
[ "$(PKG_CONFIG_PATH=$pc pkg-config --modversion heddle)" = 0.1.0 ] || { echo "FAILED  pkg-config's version"; exit 1; }
echo "ok      pkg-config"
cd "$d"
unset HEDDLE_DATA
[ "$(env -u LD_LIBRARY_PATH moved/bin/heddle list --names | grep -cx matmul-naive)" = 1 ] || { echo "FAILED  the program finds its workloads"; exit 1; }
env -u LD_LIBRARY_PATH moved/bin/heddle simulate --gpu list | grep -qx h100 || { echo "FAILED  the program finds its GPUs"; exit 1; }
echo "ok      the program finds its data"
for file in share/man/man1/heddle.1 share/man/man1/heddle-sweep.1 share/bash-completion/completions/heddle \
  share/zsh/site-functions/_heddle share/fish/vendor_completions.d/heddle.fish; do
  # With sanitizers the program makes neither.
  [ -s "moved/$file" ] || [ ! -d "$build/manual" ] || { echo "FAILED  no $file"; exit 1; }
done
echo "ok      man pages and completions"
for file in README.md LICENSE docs/words.md docs/decisions/clock.md examples/columns/columns.ptx; do
  [ -s "moved/share/doc/heddle/$file" ] || { echo "FAILED  no $file"; exit 1; }
done
echo "ok      the pages that messages name"
