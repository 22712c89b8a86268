# What bench/bench.py loads and runs: the hand-written kernels, the recordings, and small programs.

find_package(OpenMP REQUIRED COMPONENTS C)
find_path(cblas_include cblas.h PATH_SUFFIXES openblas REQUIRED)
find_library(openblas openblas REQUIRED)

# Kernels are compiled as their author would: for this machine, with all that the compiler can do.
file(GLOB hand_sources CONFIGURE_DEPENDS bench/hand_*.c)
set_source_files_properties(${hand_sources} PROPERTIES COMPILE_OPTIONS
                                                       "-O3;-march=native;-ffp-contract=fast")
add_library(bench_c MODULE ${hand_sources})
target_include_directories(bench_c PRIVATE ${cblas_include})
target_link_libraries(bench_c PRIVATE arras_flags OpenMP::OpenMP_C ${openblas} m)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64")
    target_link_libraries(bench_c PRIVATE mvec)
endif()

add_library(bench_arras MODULE bench/face.c bench/recordings.c)
target_link_libraries(bench_arras PRIVATE arras_static arras_flags)

add_executable(bench_compile bench/bench_compile.c bench/recordings.c)
target_link_libraries(bench_compile PRIVATE arras arras_flags)

add_executable(bench_pool bench/bench_pool.c)
target_include_directories(bench_pool PRIVATE src)
target_link_libraries(bench_pool PRIVATE arras_static arras_flags m)

# Functions of a user of arras/apply.h, and the plain loop that they are compared with.
set_source_files_properties(bench/bench_apply.c PROPERTIES COMPILE_OPTIONS "-O3;-march=native")
add_executable(bench_apply bench/bench_apply.c)
target_link_libraries(bench_apply PRIVATE arras arras_flags m)

# bench/dgfem: the right-hand sides of examples/dgfem, and the same by hand.
file(GLOB dgfem_race_sources CONFIGURE_DEPENDS examples/dgfem/*.c bench/dgfem/*.c)
list(FILTER dgfem_race_sources EXCLUDE REGEX "/dg_main\\.c$")
set_source_files_properties(bench/dgfem/dgfem_hand.c PROPERTIES COMPILE_OPTIONS
                                                      "-O3;-march=native;-ffp-contract=fast")
add_library(bench_dgfem MODULE ${dgfem_race_sources})
target_link_libraries(bench_dgfem PRIVATE arras arras_flags OpenMP::OpenMP_C m)

# What bench/files.py runs: HDF5 files by hand, with libhdf5 itself, and the decoders of store/, which
# load libhdf5: with -fPIC the program has no copies of its variables, which they would not see.
if(leaf_HDF5_FOUND)
    file(GLOB files_sources CONFIGURE_DEPENDS bench/files_*.c)
    set_source_files_properties(
        ${files_sources} PROPERTIES COMPILE_OPTIONS "-O3;-march=native;-ffp-contract=fast;-fPIC")
    add_executable(files_hand ${files_sources})
    target_include_directories(files_hand PRIVATE src)
    target_include_directories(files_hand SYSTEM PRIVATE ${leaf_HDF5_INCLUDE_DIRS})
    target_link_directories(files_hand PRIVATE ${leaf_HDF5_LIBRARY_DIRS})
    target_link_libraries(files_hand PRIVATE arras_static arras_flags OpenMP::OpenMP_C
                                             ${leaf_HDF5_LIBRARIES} m)
endif()
