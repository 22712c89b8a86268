#!/bin/sh
# install.sh BUILD -- installs a copy, moves it, and builds and runs strangers against it: C and C++, shared
# and static, by pkg-config and by find_package.
. "$(dirname "$0")/../../kit/check.sh"
here=$(cd "$(dirname "$0")" && pwd)
build=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

check "cmake --install" cmake --install "$build" --prefix "$scratch/first"
check "the copy can be moved" mv first copy
check "the command runs" copy/bin/arras run '[1,2,3] * 2'
libdir=$(dirname "$(find copy -name libarras.so)")
libdir=$scratch/$libdir
export PKG_CONFIG_PATH="$libdir/pkgconfig"
export LD_LIBRARY_PATH="$libdir"
strict="-pedantic -Wall -Wextra -Werror"

# Builds with COMPILER OPTION ..., then runs; the program checks its own values.
builds_and_runs()
{
    rm -f program
    # shellcheck disable=SC2046 # pkg-config answers with words
    "$@" -o program $(pkg-config --cflags --libs $static arras) && ./program
}

static=
check "C99, shared" builds_and_runs cc -std=c99 $strict "$here/outside.c"
check "C++11, shared" builds_and_runs c++ -std=c++11 $strict "$here/outside.cpp"
check "C++17, shared" builds_and_runs c++ -std=c++17 $strict "$here/outside.cpp"
static=--static
check "C99, static" builds_and_runs cc -static -std=c99 $strict "$here/outside.c"
check "C++17, static" builds_and_runs c++ -static -std=c++17 $strict "$here/outside.cpp"

# A fully static program computes, and says in one line that it can't read HDF5; others read it.
files()
{
    rm -f files files.h5
    # shellcheck disable=SC2046
    cc "$@" -std=c99 $strict "$here/outside_files.c" -o files $(pkg-config --cflags --libs $static arras) && ./files
}

case $(pkg-config --variable=loaded_libraries arras) in
*hdf5*)
    static=
    check "HDF5, shared" files
    check "what was written" grep -q HDF files.h5
    static=--static
    check "HDF5, static" files -static
    check "HDF5, static and at any address" files -static-pie
    check "no file" test ! -e files.h5
    ;;
esac

check "find_package" cmake -G Ninja -S "$here" -B by_cmake -DCMAKE_PREFIX_PATH="$scratch/copy"
check "build with it" cmake --build by_cmake
unset LD_LIBRARY_PATH
for program in outside_c outside_c_static outside_cxx outside_cxx_static; do
    check "$program" by_cmake/$program
done
check "pkg-config knows the version" pkg-config --exact-version="$(./program --version)" arras
finish
