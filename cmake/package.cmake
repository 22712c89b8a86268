# What `cmake --install` puts where.  The result may be moved: nothing in it knows the prefix.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/arras)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(TARGETS arras arras_static EXPORT arrasTargets FILE_SET HEADERS)
install(EXPORT arrasTargets NAMESPACE arras:: DESTINATION ${package_dir})

configure_package_config_file(cmake/arrasConfig.cmake.in arrasConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(arrasConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/arrasConfig.cmake
              ${PROJECT_BINARY_DIR}/arrasConfigVersion.cmake DESTINATION ${package_dir})

# From arras.pc to the prefix: "../.." for lib/pkgconfig.
string(REGEX REPLACE "[^/]+" ".." prefix_from_pkgconfig ${pkgconfig_dir})
configure_file(cmake/arras.pc.in arras.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/arras.pc DESTINATION ${pkgconfig_dir})
