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
# The tier for users: everything that heddle.h lists is there, and nothing else can be called.
flags=$(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs heddle)
names=$(sed -nE 's/^ \* (hd_[a-z0-9_]+(, hd_[a-z0-9_]+)*)( .*)?$/\1/p' "$d/moved/include/heddle/heddle.h" | tr -d ,)
{
  echo '#include "heddle/heddle.h"'
  echo 'void (*const all[])(void) = {'
  for name in $names; do echo "  (void (*)(void))$name,"; done
  cat <<'END'
};
/* One kernel of a file under a plan. argv: the file, the plan, the new file. */
int main(int argc, char **argv) {
  hd_plan plan;
  hd_diag d;
  char line[1600];
  hd_buf launch = {0};
  if (argc < 4 || sizeof all / sizeof *all < 50) return 2;
  hd_status st = hd_plan_parse(argv[2], &plan, &d);
  const hd_rewrite_options options = {0};
  const hd_rewrite_file_options o = {.path = argv[1], .output = argv[3], .plan = &plan, .options = &options};
  if (st == HD_OK) st = hd_rewrite_kernel(&o, "scale", &launch, &d);
  if (st != HD_OK) fprintf(stderr, "%s\n", hd_diag_line(&d, line, sizeof line));
  hd_buf_free(&launch);
  return st != HD_OK;
}
END
} > "$d/users.c"
sed -i '1i #include <stdio.h>' "$d/users.c"
cc -Wall -Werror "$d/users.c" -o "$d/users" $flags
LD_LIBRARY_PATH=$lib "$d/users" "$d/moved/share/doc/heddle/examples/columns/columns.ptx" order=col "$d/columns.ptx" && [ -s "$d/columns.ptx" ] ||
  { echo "FAILED  a program of the users' tier"; exit 1; }
for compiler in cc c++; do
  printf '#include "heddle/heddle.h"\nunsigned own(void) { return hd_cpu_count(); }\n' > "$d/own.${compiler/cc/c}"
  ! $compiler -c "$d/own.${compiler/cc/c}" -o "$d/own.o" $flags 2> "$d/log" && grep -q "heddle's own programs" "$d/log" ||
    { echo "FAILED  a call of a function that is for heddle's own clients"; exit 1; }
done
echo "ok      the tier for users, and nothing else"
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
