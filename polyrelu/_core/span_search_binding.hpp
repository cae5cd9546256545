// Adds the search in one layer to the module.
#pragma once

#include <pybind11/pybind11.h>

namespace polyrelu {

void bind_span_search(pybind11::module_& module);

}  // namespace polyrelu
