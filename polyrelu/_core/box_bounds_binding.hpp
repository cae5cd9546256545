// Adds bounds on boxes to the module.
#pragma once

#include <pybind11/pybind11.h>

namespace polyrelu {

void bind_box_bounds(pybind11::module_& module);

}  // namespace polyrelu
