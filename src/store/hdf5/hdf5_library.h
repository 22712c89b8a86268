/* hdf5_library.h -- libhdf5, loaded when the first HDF5 file is met: it brings forty libraries with
 * it, and programs that meet none start without them.
 *
 * After this header the names of its functions and numbers stand for entries of a table.  A new one
 * is a word in the list, and a line below. */
#ifndef AR_HDF5_LIBRARY_H
#define AR_HDF5_LIBRARY_H

#include "base/base.h"

#include <hdf5.h>
#include <hdf5_hl.h>

/* Fills the table; EFORMAT when the library can't be loaded.  From any thread. */
arras_status ar_hdf5_load(arras_error *err);

#define AR_HDF5_SYMBOLS(X)                                                                         \
    X(H5Aclose) X(H5Acreate2) X(H5Adelete) X(H5Aexists) X(H5Aexists_by_name) X(H5Aget_space)       \
    X(H5Aget_type) X(H5Aiterate2) X(H5Aopen) X(H5Aread) X(H5Awrite) X(H5DSattach_scale)            \
    X(H5DSdetach_scale)                                                                            \
    X(H5DSis_scale) X(H5DSiterate_scales) X(H5DSset_label) X(H5DSset_scale) X(H5Dclose)            \
    X(H5Dcreate2) X(H5Dget_create_plist) X(H5Dget_offset) X(H5Dget_space) X(H5Dget_space_status)   \
    X(H5Dget_storage_size) X(H5Dget_type) X(H5Dopen2) X(H5Dread) X(H5Dread_chunk) X(H5Dset_extent) \
    X(H5Dvlen_reclaim) X(H5Dwrite_chunk) X(H5E_CANTOPENFILE_g) X(H5E_ERR_CLS_g) X(H5E_FILE_g)      \
    X(H5Eclear2) X(H5Eget_auto2) X(H5Eget_current_stack) X(H5Epush2) X(H5Eset_auto2)               \
    X(H5Eset_current_stack) X(H5Ewalk2) X(H5FDregister) X(H5Fclose) X(H5Fcreate)                   \
    X(H5Fget_create_plist) X(H5Fget_name) X(H5Fget_vfd_handle) X(H5Fopen) X(H5Gclose) X(H5Gopen2)  \
    X(H5Idec_ref) X(H5Iget_file_id) X(H5Iget_name) X(H5Ldelete) X(H5Lexists) X(H5Literate_by_name) \
    X(H5Ocopy) X(H5Oget_info2) X(H5Oget_info_by_name2) X(H5P_CLS_DATASET_CREATE_ID_g)              \
    X(H5P_CLS_FILE_ACCESS_ID_g) X(H5P_CLS_LINK_CREATE_ID_g) X(H5Pcreate) X(H5Pfill_value_defined)  \
    X(H5Pget_chunk) X(H5Pget_chunk_opts) X(H5Pget_driver_info) X(H5Pget_external)                  \
    X(H5Pget_external_count)                                                                       \
    X(H5Pget_fill_value) X(H5Pget_filter2) X(H5Pget_layout) X(H5Pget_nfilters) X(H5Pget_sizes)     \
    X(H5Pget_userblock) X(H5Pget_virtual_count) X(H5Pget_virtual_dsetname)                         \
    X(H5Pget_virtual_filename) X(H5Pset_alignment) X(H5Pset_alloc_time) X(H5Pset_chunk)            \
    X(H5Pset_create_intermediate_group) X(H5Pset_deflate) X(H5Pset_driver) X(H5Pset_file_locking)  \
    X(H5Pset_fill_time) X(H5Pset_fill_value) X(H5Pset_filter) X(H5Pset_fletcher32)                 \
    X(H5Pset_layout) X(H5Pset_shuffle) X(H5Pset_szip) X(H5Rdereference2) X(H5Sclose) X(H5Screate)  \
    X(H5Screate_simple) X(H5Sget_simple_extent_dims) X(H5Sget_simple_extent_ndims)                 \
    X(H5Sget_simple_extent_npoints) X(H5Sget_simple_extent_type) X(H5Sselect_hyperslab)            \
    X(H5T_C_S1_g) X(H5T_IEEE_F32BE_g) X(H5T_NATIVE_DOUBLE_g) X(H5T_NATIVE_FLOAT_g)                 \
    X(H5T_NATIVE_INT16_g) X(H5T_NATIVE_INT32_g) X(H5T_NATIVE_INT64_g) X(H5T_NATIVE_INT8_g)         \
    X(H5T_NATIVE_UINT16_g) X(H5T_NATIVE_UINT32_g) X(H5T_NATIVE_UINT64_g) X(H5T_NATIVE_UINT8_g)     \
    X(H5Tclose) X(H5Tconvert) X(H5Tcopy) X(H5Tcreate) X(H5Tdetect_class) X(H5Tenum_create)         \
    X(H5Tenum_insert) X(H5Tenum_valueof) X(H5Tget_class) X(H5Tget_ebias) X(H5Tget_fields)          \
    X(H5Tget_member_name) X(H5Tget_member_offset) X(H5Tget_member_type) X(H5Tget_native_type)      \
    X(H5Tget_nmembers) X(H5Tget_norm) X(H5Tget_offset) X(H5Tget_order) X(H5Tget_precision)         \
    X(H5Tget_sign) X(H5Tget_size) X(H5Tget_super) X(H5Tinsert) X(H5Tis_variable_str)               \
    X(H5Tset_ebias) X(H5Tset_fields) X(H5Tset_size) X(H5Zfilter_avail) X(H5Zregister)              \
    X(H5Zunregister) X(H5check_version) X(H5free_memory) X(H5open)

typedef struct {
#define AR_HDF5_ENTRY(name) __typeof__(name) *name;
    AR_HDF5_SYMBOLS(AR_HDF5_ENTRY)
#undef AR_HDF5_ENTRY
} ar_hdf5_table;

extern ar_hdf5_table ar_hdf5;

#if !defined AR_HDF5_LOADS
#define H5Aclose (*ar_hdf5.H5Aclose)
#define H5Acreate2 (*ar_hdf5.H5Acreate2)
#define H5Adelete (*ar_hdf5.H5Adelete)
#define H5Aexists (*ar_hdf5.H5Aexists)
#define H5Aexists_by_name (*ar_hdf5.H5Aexists_by_name)
#define H5Aget_space (*ar_hdf5.H5Aget_space)
#define H5Aget_type (*ar_hdf5.H5Aget_type)
#define H5Aiterate2 (*ar_hdf5.H5Aiterate2)
#define H5Aopen (*ar_hdf5.H5Aopen)
#define H5Aread (*ar_hdf5.H5Aread)
#define H5Awrite (*ar_hdf5.H5Awrite)
#define H5DSattach_scale (*ar_hdf5.H5DSattach_scale)
#define H5DSdetach_scale (*ar_hdf5.H5DSdetach_scale)
#define H5DSis_scale (*ar_hdf5.H5DSis_scale)
#define H5DSiterate_scales (*ar_hdf5.H5DSiterate_scales)
#define H5DSset_label (*ar_hdf5.H5DSset_label)
#define H5DSset_scale (*ar_hdf5.H5DSset_scale)
#define H5Dclose (*ar_hdf5.H5Dclose)
#define H5Dcreate2 (*ar_hdf5.H5Dcreate2)
#define H5Dget_create_plist (*ar_hdf5.H5Dget_create_plist)
#define H5Dget_offset (*ar_hdf5.H5Dget_offset)
#define H5Dget_space (*ar_hdf5.H5Dget_space)
#define H5Dget_space_status (*ar_hdf5.H5Dget_space_status)
#define H5Dget_storage_size (*ar_hdf5.H5Dget_storage_size)
#define H5Dget_type (*ar_hdf5.H5Dget_type)
#define H5Dopen2 (*ar_hdf5.H5Dopen2)
#define H5Dread (*ar_hdf5.H5Dread)
#define H5Dread_chunk (*ar_hdf5.H5Dread_chunk)
#define H5Dset_extent (*ar_hdf5.H5Dset_extent)
#define H5Dvlen_reclaim (*ar_hdf5.H5Dvlen_reclaim)
#define H5Dwrite_chunk (*ar_hdf5.H5Dwrite_chunk)
#define H5E_CANTOPENFILE_g (*ar_hdf5.H5E_CANTOPENFILE_g)
#define H5E_ERR_CLS_g (*ar_hdf5.H5E_ERR_CLS_g)
#define H5E_FILE_g (*ar_hdf5.H5E_FILE_g)
#define H5Eclear2 (*ar_hdf5.H5Eclear2)
#define H5Eget_auto2 (*ar_hdf5.H5Eget_auto2)
#define H5Eget_current_stack (*ar_hdf5.H5Eget_current_stack)
#define H5Epush2 (*ar_hdf5.H5Epush2)
#define H5Eset_auto2 (*ar_hdf5.H5Eset_auto2)
#define H5Eset_current_stack (*ar_hdf5.H5Eset_current_stack)
#define H5Ewalk2 (*ar_hdf5.H5Ewalk2)
#define H5FDregister (*ar_hdf5.H5FDregister)
#define H5Fclose (*ar_hdf5.H5Fclose)
#define H5Fcreate (*ar_hdf5.H5Fcreate)
#define H5Fget_create_plist (*ar_hdf5.H5Fget_create_plist)
#define H5Fget_name (*ar_hdf5.H5Fget_name)
#define H5Fget_vfd_handle (*ar_hdf5.H5Fget_vfd_handle)
#define H5Fopen (*ar_hdf5.H5Fopen)
#define H5Gclose (*ar_hdf5.H5Gclose)
#define H5Gopen2 (*ar_hdf5.H5Gopen2)
#define H5Idec_ref (*ar_hdf5.H5Idec_ref)
#define H5Iget_file_id (*ar_hdf5.H5Iget_file_id)
#define H5Iget_name (*ar_hdf5.H5Iget_name)
#define H5Ldelete (*ar_hdf5.H5Ldelete)
#define H5Lexists (*ar_hdf5.H5Lexists)
#define H5Literate_by_name (*ar_hdf5.H5Literate_by_name)
#define H5Ocopy (*ar_hdf5.H5Ocopy)
#define H5Oget_info2 (*ar_hdf5.H5Oget_info2)
#define H5Oget_info_by_name2 (*ar_hdf5.H5Oget_info_by_name2)
#define H5P_CLS_DATASET_CREATE_ID_g (*ar_hdf5.H5P_CLS_DATASET_CREATE_ID_g)
#define H5P_CLS_FILE_ACCESS_ID_g (*ar_hdf5.H5P_CLS_FILE_ACCESS_ID_g)
#define H5P_CLS_LINK_CREATE_ID_g (*ar_hdf5.H5P_CLS_LINK_CREATE_ID_g)
#define H5Pcreate (*ar_hdf5.H5Pcreate)
#define H5Pfill_value_defined (*ar_hdf5.H5Pfill_value_defined)
#define H5Pget_chunk (*ar_hdf5.H5Pget_chunk)
#define H5Pget_chunk_opts (*ar_hdf5.H5Pget_chunk_opts)
#define H5Pget_driver_info (*ar_hdf5.H5Pget_driver_info)
#define H5Pget_external (*ar_hdf5.H5Pget_external)
#define H5Pget_external_count (*ar_hdf5.H5Pget_external_count)
#define H5Pget_fill_value (*ar_hdf5.H5Pget_fill_value)
#define H5Pget_filter2 (*ar_hdf5.H5Pget_filter2)
#define H5Pget_layout (*ar_hdf5.H5Pget_layout)
#define H5Pget_nfilters (*ar_hdf5.H5Pget_nfilters)
#define H5Pget_sizes (*ar_hdf5.H5Pget_sizes)
#define H5Pget_userblock (*ar_hdf5.H5Pget_userblock)
#define H5Pget_virtual_count (*ar_hdf5.H5Pget_virtual_count)
#define H5Pget_virtual_dsetname (*ar_hdf5.H5Pget_virtual_dsetname)
#define H5Pget_virtual_filename (*ar_hdf5.H5Pget_virtual_filename)
#define H5Pset_alignment (*ar_hdf5.H5Pset_alignment)
#define H5Pset_alloc_time (*ar_hdf5.H5Pset_alloc_time)
#define H5Pset_chunk (*ar_hdf5.H5Pset_chunk)
#define H5Pset_create_intermediate_group (*ar_hdf5.H5Pset_create_intermediate_group)
#define H5Pset_deflate (*ar_hdf5.H5Pset_deflate)
#define H5Pset_driver (*ar_hdf5.H5Pset_driver)
#define H5Pset_file_locking (*ar_hdf5.H5Pset_file_locking)
#define H5Pset_fill_time (*ar_hdf5.H5Pset_fill_time)
#define H5Pset_fill_value (*ar_hdf5.H5Pset_fill_value)
#define H5Pset_filter (*ar_hdf5.H5Pset_filter)
#define H5Pset_fletcher32 (*ar_hdf5.H5Pset_fletcher32)
#define H5Pset_layout (*ar_hdf5.H5Pset_layout)
#define H5Pset_shuffle (*ar_hdf5.H5Pset_shuffle)
#define H5Pset_szip (*ar_hdf5.H5Pset_szip)
#define H5Rdereference2 (*ar_hdf5.H5Rdereference2)
#define H5Sclose (*ar_hdf5.H5Sclose)
#define H5Screate (*ar_hdf5.H5Screate)
#define H5Screate_simple (*ar_hdf5.H5Screate_simple)
#define H5Sget_simple_extent_dims (*ar_hdf5.H5Sget_simple_extent_dims)
#define H5Sget_simple_extent_ndims (*ar_hdf5.H5Sget_simple_extent_ndims)
#define H5Sget_simple_extent_npoints (*ar_hdf5.H5Sget_simple_extent_npoints)
#define H5Sget_simple_extent_type (*ar_hdf5.H5Sget_simple_extent_type)
#define H5Sselect_hyperslab (*ar_hdf5.H5Sselect_hyperslab)
#define H5T_C_S1_g (*ar_hdf5.H5T_C_S1_g)
#define H5T_IEEE_F32BE_g (*ar_hdf5.H5T_IEEE_F32BE_g)
#define H5T_NATIVE_DOUBLE_g (*ar_hdf5.H5T_NATIVE_DOUBLE_g)
#define H5T_NATIVE_FLOAT_g (*ar_hdf5.H5T_NATIVE_FLOAT_g)
#define H5T_NATIVE_INT16_g (*ar_hdf5.H5T_NATIVE_INT16_g)
#define H5T_NATIVE_INT32_g (*ar_hdf5.H5T_NATIVE_INT32_g)
#define H5T_NATIVE_INT64_g (*ar_hdf5.H5T_NATIVE_INT64_g)
#define H5T_NATIVE_INT8_g (*ar_hdf5.H5T_NATIVE_INT8_g)
#define H5T_NATIVE_UINT16_g (*ar_hdf5.H5T_NATIVE_UINT16_g)
#define H5T_NATIVE_UINT32_g (*ar_hdf5.H5T_NATIVE_UINT32_g)
#define H5T_NATIVE_UINT64_g (*ar_hdf5.H5T_NATIVE_UINT64_g)
#define H5T_NATIVE_UINT8_g (*ar_hdf5.H5T_NATIVE_UINT8_g)
#define H5Tclose (*ar_hdf5.H5Tclose)
#define H5Tconvert (*ar_hdf5.H5Tconvert)
#define H5Tcopy (*ar_hdf5.H5Tcopy)
#define H5Tcreate (*ar_hdf5.H5Tcreate)
#define H5Tdetect_class (*ar_hdf5.H5Tdetect_class)
#define H5Tenum_create (*ar_hdf5.H5Tenum_create)
#define H5Tenum_insert (*ar_hdf5.H5Tenum_insert)
#define H5Tenum_valueof (*ar_hdf5.H5Tenum_valueof)
#define H5Tget_class (*ar_hdf5.H5Tget_class)
#define H5Tget_ebias (*ar_hdf5.H5Tget_ebias)
#define H5Tget_fields (*ar_hdf5.H5Tget_fields)
#define H5Tget_member_name (*ar_hdf5.H5Tget_member_name)
#define H5Tget_member_offset (*ar_hdf5.H5Tget_member_offset)
#define H5Tget_member_type (*ar_hdf5.H5Tget_member_type)
#define H5Tget_native_type (*ar_hdf5.H5Tget_native_type)
#define H5Tget_nmembers (*ar_hdf5.H5Tget_nmembers)
#define H5Tget_norm (*ar_hdf5.H5Tget_norm)
#define H5Tget_offset (*ar_hdf5.H5Tget_offset)
#define H5Tget_order (*ar_hdf5.H5Tget_order)
#define H5Tget_precision (*ar_hdf5.H5Tget_precision)
#define H5Tget_sign (*ar_hdf5.H5Tget_sign)
#define H5Tget_size (*ar_hdf5.H5Tget_size)
#define H5Tget_super (*ar_hdf5.H5Tget_super)
#define H5Tinsert (*ar_hdf5.H5Tinsert)
#define H5Tis_variable_str (*ar_hdf5.H5Tis_variable_str)
#define H5Tset_ebias (*ar_hdf5.H5Tset_ebias)
#define H5Tset_fields (*ar_hdf5.H5Tset_fields)
#define H5Tset_size (*ar_hdf5.H5Tset_size)
#define H5Zfilter_avail (*ar_hdf5.H5Zfilter_avail)
#define H5Zregister (*ar_hdf5.H5Zregister)
#define H5Zunregister (*ar_hdf5.H5Zunregister)
#define H5check_version (*ar_hdf5.H5check_version)
#define H5free_memory (*ar_hdf5.H5free_memory)
#define H5open (*ar_hdf5.H5open)
#endif

#endif
