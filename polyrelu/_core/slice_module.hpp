// The part of the Python module that makes walks.
#pragma once

#include <pybind11/pybind11.h>

namespace polyrelu {

void bind_slice_walks(pybind11::module_& module);

}  // namespace polyrelu
