# The language (arras_lang) and the command (arras_command, the program `arras`).  Both see the
# public header only.

file(GLOB lang_sources CONFIGURE_DEPENDS lang/*.c)
add_library(arras_lang STATIC ${lang_sources})
target_include_directories(arras_lang PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(arras_lang PUBLIC arras_static PRIVATE arras_flags m)

if(NOT ARRAS_COMMAND)
    return()
endif()

find_package(PNG REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(libedit REQUIRED IMPORTED_TARGET libedit)

# The texts of `arras help` are carried as bytes.
file(GLOB help_texts CONFIGURE_DEPENDS cmd/help/*.txt)
foreach(text IN LISTS help_texts)
    cmake_path(GET text STEM topic)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${text})
    file(READ ${text} bytes HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/help_${topic}.inc CONTENT "${bytes}0\n")
endforeach()

# All but main(), so that tests can link what they test.
file(GLOB command_parts CONFIGURE_DEPENDS cmd/*.c cmd/*/*.c)
list(FILTER command_parts EXCLUDE REGEX "/main\\.c$")
add_library(arras_command_parts STATIC ${command_parts})
target_include_directories(arras_command_parts PRIVATE ${PROJECT_BINARY_DIR}/generated)
target_compile_definitions(arras_command_parts PUBLIC ARRAS_VERSION="${PROJECT_VERSION}")
target_link_libraries(
    arras_command_parts
    PUBLIC arras_lang
    PRIVATE arras_flags PNG::PNG PkgConfig::libedit m)

add_executable(arras_command cmd/main.c)
set_target_properties(arras_command PROPERTIES OUTPUT_NAME arras)
target_link_libraries(arras_command PRIVATE arras_command_parts arras_flags)

# The man page is what the command says about itself.
set(man_page ${PROJECT_BINARY_DIR}/arras.1)
add_custom_command(
    OUTPUT ${man_page}
    COMMAND arras_command help --man > ${man_page}
    DEPENDS arras_command
    COMMENT "Making arras.1"
    VERBATIM)
add_custom_target(man_page ALL DEPENDS ${man_page})

install(TARGETS arras_command)
install(FILES ${man_page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES cmd/completion/arras.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        RENAME arras)
install(FILES cmd/completion/_arras DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
