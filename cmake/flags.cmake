# The way everything in this tree is compiled: arras_flags, linked PRIVATE by each target.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)

add_library(arras_flags INTERFACE)
target_compile_definitions(arras_flags INTERFACE _GNU_SOURCE)
target_compile_options(
    arras_flags
    INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes
              $<$<BOOL:${ARRAS_WERROR}>:-Werror>
              # The result of a*b+c must not depend on which instructions a machine has.
              -ffp-contract=off
              # A cell is read by its dtype, whatever type its memory was written with.
              -fno-strict-aliasing)

set(sanitize ${ARRAS_SANITIZE})
if(ARRAS_FUZZ)
    if(NOT CMAKE_C_COMPILER_ID MATCHES Clang)
        message(FATAL_ERROR "ARRAS_FUZZ needs Clang: configure a new build directory with CC=clang")
    endif()
    set(sanitize fuzzer-no-link,address,undefined)
endif()
if(sanitize)
    set(sanitize_options -fsanitize=${sanitize} -fno-sanitize-recover=all)
    target_compile_options(arras_flags INTERFACE ${sanitize_options} -fno-omit-frame-pointer)
    target_link_options(arras_flags INTERFACE ${sanitize_options})
endif()
