# The library, compiled once for both of its forms: arras (shared) and arras_static.

# ops.h declares a function for each row of the tables in src/ir.
add_executable(make_ops_header tools/make_ops_header.c)
target_include_directories(make_ops_header PRIVATE src)
target_link_libraries(make_ops_header PRIVATE arras_flags)
set(ops_header ${PROJECT_BINARY_DIR}/include/arras/ops.h)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/include/arras)
add_custom_command(
    OUTPUT ${ops_header}
    COMMAND make_ops_header > ${ops_header}
    DEPENDS make_ops_header
    COMMENT "Making arras/ops.h"
    VERBATIM)
add_custom_target(ops_header DEPENDS ${ops_header})

# Generated kernels begin with the texts of these files, so the library carries them as bytes; parts
# of a text go without the comment that they open with.
set(kits src/ir/scalar_kit.h src/ir/trees.h)
foreach(kit fold_kit vector_kit kernel_kit edge_kit stream_kit pair_kit item_kit plain_kit opencl_kit)
    list(APPEND kits src/gen/kit/${kit}.h)
endforeach()
foreach(kit IN LISTS kits)
    get_filename_component(name ${kit} NAME_WE)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${kit})
    file(READ ${kit} bytes HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    if(NOT name MATCHES "^(scalar|fold|vector|kernel)_kit$|^trees$")
        string(FIND "${bytes}" "0x2a,0x2f,0x0a," end)
        math(EXPR end "${end} + 15")
        string(SUBSTRING "${bytes}" ${end} -1 bytes)
    endif()
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/${name}_bytes.inc CONTENT "${bytes}\n")
endforeach()

# Programs that are kept on disk are those of one generator: that of these sources.
file(GLOB generator_sources CONFIGURE_DEPENDS include/arras/*.h src/base/*.[ch] src/ir/*.[ch]
     src/ir/*.def src/ir/*.inc src/opt/*.[ch] src/plan/*.[ch] src/gen/*.[ch] src/gen/*/*.[ch] src/gen/*/*.inc
     src/compile/*.[ch])
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${generator_sources})
set(generator)
foreach(source IN LISTS generator_sources)
    file(SHA256 ${source} hash)
    string(SHA256 generator "${generator}${hash}")
endforeach()
set_source_files_properties(src/compile/program_cache.c PROPERTIES COMPILE_DEFINITIONS
                                                              ARRAS_GENERATOR="${generator}")

if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64")
    set_source_files_properties(src/gen/kit/folds_avx2.c PROPERTIES COMPILE_OPTIONS -mavx2)
    set_source_files_properties(src/product/product_avx2.c PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma")
    set_source_files_properties(src/product/product_avx512.c PROPERTIES COMPILE_OPTIONS -mavx512f)
endif()

file(GLOB sources CONFIGURE_DEPENDS src/*/*.c src/*/*/*.c)
add_library(arras_objects OBJECT ${sources})
set_target_properties(arras_objects PROPERTIES POSITION_INDEPENDENT_CODE ON
                                               C_VISIBILITY_PRESET hidden)
target_compile_definitions(arras_objects PRIVATE ARRAS_VERSION="${PROJECT_VERSION}")
target_include_directories(arras_objects PRIVATE src include ${PROJECT_BINARY_DIR}/include
                                                 ${PROJECT_BINARY_DIR}/generated)
target_link_libraries(arras_objects PRIVATE arras_flags)
add_dependencies(arras_objects ops_header)

# Callers may have a stack of 64 KB, of which one function must not take much.  What runs in tasks only
# has more (src/base/stack.c).
if(NOT ARRAS_SANITIZE AND NOT ARRAS_FUZZ AND CMAKE_BUILD_TYPE STREQUAL Release)
    target_compile_options(arras_objects PRIVATE -Wframe-larger-than=16384)
    set_source_files_properties(src/gen/kit/folds.c src/gen/kit/folds_avx2.c src/product/product_blocks.c src/run/step_stage.c
                                PROPERTIES COMPILE_FLAGS -Wframe-larger-than=163840)
endif()

file(GLOB public_headers CONFIGURE_DEPENDS include/arras/*.h)
function(arras_library name type)
    add_library(${name} ${type} $<TARGET_OBJECTS:arras_objects>)
    add_library(arras::${name} ALIAS ${name})
    add_dependencies(${name} ops_header)
    target_sources(
        ${name} PUBLIC FILE_SET HEADERS BASE_DIRS include ${PROJECT_BINARY_DIR}/include FILES
                       ${public_headers} ${ops_header})
    target_link_libraries(${name} PRIVATE m)
    target_link_options(${name} PRIVATE ${sanitize_options})
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE C OUTPUT_NAME arras)
endfunction()

arras_library(arras SHARED)
set_target_properties(arras PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION
                                                                  ${PROJECT_VERSION_MAJOR})
arras_library(arras_static STATIC)
