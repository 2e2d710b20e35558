# `cmake --install` gives the tools, the libraries, the headers and a CMake
# package: find_package(Verify), then link VerifyTransforms or another library.
include(CMakePackageConfigHelpers)

set(_package "${CMAKE_INSTALL_LIBDIR}/cmake/Verify")
configure_package_config_file(cmake/VerifyConfig.cmake.in VerifyConfig.cmake
  INSTALL_DESTINATION "${_package}")
write_basic_package_version_file(VerifyConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/VerifyConfig.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/VerifyConfigVersion.cmake"
              cmake/LinkMLIR.cmake cmake/SanitizerOptions.cpp
        DESTINATION "${_package}")
install(EXPORT VerifyTargets DESTINATION "${_package}")
