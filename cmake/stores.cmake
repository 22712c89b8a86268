# Optional libraries of store/: each that is found is linked in both forms of the library, and its
# source files see ARRAS_HAVE_NAME.  Without it they compile to a refusal that names it.
find_package(PkgConfig REQUIRED)

set(leaf_libraries "") # for programs that link the static library (arras.pc)
set(loaded_libraries "")

# Links these libraries, and lets the sources see NAME.
macro(arras_leaf name includes directories libraries)
    # Where the linker looks anyway need not be said, least of all before other places.
    set(leaf_directories ${directories})
    list(REMOVE_ITEM leaf_directories ${CMAKE_C_IMPLICIT_LINK_DIRECTORIES})
    target_compile_definitions(arras_objects PRIVATE ARRAS_HAVE_${name})
    target_include_directories(arras_objects SYSTEM PRIVATE ${includes})
    foreach(form arras arras_static)
        target_link_directories(${form} PRIVATE ${leaf_directories})
        # Names, not paths: what is installed must not depend on where they were found.
        target_link_libraries(${form} PRIVATE ${libraries})
    endforeach()
    foreach(directory IN LISTS leaf_directories)
        string(APPEND leaf_libraries " -L${directory}")
    endforeach()
    foreach(library IN ITEMS ${libraries})
        string(APPEND leaf_libraries " -l${library}")
    endforeach()
endmacro()

macro(arras_leaf_package name package)
    pkg_check_modules(leaf_${name} QUIET ${package})
    if(leaf_${name}_FOUND)
        arras_leaf(${name} "${leaf_${name}_INCLUDE_DIRS}" "${leaf_${name}_LIBRARY_DIRS}"
                   "${leaf_${name}_LIBRARIES}")
    else()
        message(STATUS "Without ${package}: store/ will refuse what needs it")
    endif()
endmacro()

# A library that is loaded when it is first needed: sources see its headers, and the name to load as
# ARRAS_NAME_LIBRARY.
macro(arras_leaf_loaded name package library)
    pkg_check_modules(leaf_${name} QUIET ${package})
    find_library(loaded_${name} ${library} HINTS ${leaf_${name}_LIBRARY_DIRS})
    if(leaf_${name}_FOUND AND loaded_${name})
        file(REAL_PATH ${loaded_${name}} loaded_file)
        string(REGEX MATCH "[^/]+\\.so\\.[0-9]+" loaded_name ${loaded_file})
        arras_leaf(${name} "${leaf_${name}_INCLUDE_DIRS}" "" "")
        target_compile_definitions(arras_objects PRIVATE ARRAS_${name}_LIBRARY="${loaded_name}")
        string(APPEND loaded_libraries "${loaded_name} ")
    else()
        message(STATUS "Without ${package}: store/ will refuse what needs it")
    endif()
endmacro()

# ---- Codecs ------------------------------------------------------------------------------------

# Blosc brings the C++ library with it, and most programs meet none.
arras_leaf_loaded(BLOSC blosc blosc)
arras_leaf_package(ZSTD libzstd)
arras_leaf_package(LZ4 liblz4)
arras_leaf_package(DEFLATE libdeflate)
find_path(szip_include szlib.h)
find_library(szip_library sz)
find_library(aec_library aec)
if(szip_include AND szip_library AND aec_library)
    arras_leaf(SZIP "${szip_include}" "" "sz;aec")
else()
    message(STATUS "Without libaec: store/ will refuse szip")
endif()

# ---- Zarr --------------------------------------------------------------------------------------

arras_leaf_package(JANSSON jansson)

# ---- HDF5, and with it netCDF-4 ----------------------------------------------------------------

# Plain "hdf5" may be the one for MPI.  Scales of dimensions are in a library of their own.
# src/store/hdf5/hdf5_library.h says why it is loaded.
arras_leaf_loaded(HDF5 hdf5-serial hdf5_hl)
