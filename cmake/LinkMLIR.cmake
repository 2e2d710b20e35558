# How tools link MLIR. The default is static, because loading the shared
# libraries alone costs more than starting a tool may (docs/Rationale.md).
#
# Debian's static MLIR targets name the shared `LLVM` target as a dependency.
# A static tool replaces that entry, on every MLIR target, by LLVMSupport.
if(NOT VERIFY_SHARED_MLIR)
  get_property(_mlir_targets GLOBAL PROPERTY MLIR_ALL_LIBS)
  foreach(_target IN LISTS _mlir_targets MLIR_ALL_LIBS)
    if(NOT TARGET ${_target})
      continue()
    endif()
    get_target_property(_dependencies ${_target} INTERFACE_LINK_LIBRARIES)
    if(_dependencies)
      list(TRANSFORM _dependencies REPLACE "^LLVM$" "LLVMSupport")
      list(TRANSFORM _dependencies REPLACE "^\\$<LINK_ONLY:LLVM>$"
           "LLVMSupport")
      set_target_properties(${_target} PROPERTIES
        INTERFACE_LINK_LIBRARIES "${_dependencies}")
    endif()
  endforeach()
endif()

set(_sanitizer_options "${CMAKE_CURRENT_LIST_DIR}/SanitizerOptions.cpp")

# link_mlir_statically(<executable>): what LLVMSupport, in place of the shared
# library, leaves undefined.
function(link_mlir_statically name)
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=address")
    target_sources(${name} PRIVATE "${_sanitizer_options}")
  endif()
  if(NOT VERIFY_SHARED_MLIR)
    target_link_libraries(${name} PRIVATE
      LLVMRemarks LLVMSupportLSP LLVMCore LLVMSupport)
  endif()
endfunction()

# Verification makes and frees millions of small objects (docs/Rationale.md).
# Sanitizers bring an allocator of their own.
find_library(MIMALLOC_LIBRARY mimalloc)
find_path(MIMALLOC_INCLUDE_DIR mimalloc.h)

# add_verify_tool(<name> SOURCES ... LIBRARIES ...): an executable of ours,
# linked with our libraries and whatever MLIR those need.
function(add_verify_tool name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  llvm_update_compile_flags(${name})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${LLVM_RUNTIME_OUTPUT_INTDIR}")
  if(MIMALLOC_LIBRARY AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    target_link_libraries(${name} PRIVATE ${MIMALLOC_LIBRARY})
    if(MIMALLOC_INCLUDE_DIR)
      target_include_directories(${name} SYSTEM PRIVATE ${MIMALLOC_INCLUDE_DIR})
      target_compile_definitions(${name} PRIVATE VERIFY_HAS_MIMALLOC)
    endif()
  endif()
  target_link_libraries(${name} PRIVATE ${ARG_LIBRARIES})
  link_mlir_statically(${name})
  install(TARGETS ${name} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endfunction()

# add_verify_library(<name> sources... [DEPENDS ...] [LINK_LIBS ...]
#                    [LINK_COMPONENTS ...]): a static library of ours.
function(add_verify_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK_LIBS;LINK_COMPONENTS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  llvm_update_compile_flags(${name})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  set(_links ${ARG_LINK_LIBS})
  if(VERIFY_SHARED_MLIR)
    list(FILTER _links EXCLUDE REGEX "^MLIR")
    list(APPEND _links MLIR LLVM)
  else()
    foreach(_component IN LISTS ARG_LINK_COMPONENTS)
      list(APPEND _links LLVM${_component})
    endforeach()
  endif()
  target_link_libraries(${name} PUBLIC ${_links})
  target_include_directories(${name} INTERFACE
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  install(TARGETS ${name} EXPORT VerifyTargets
          ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endfunction()
