// Adds the rule of certificates in integers to the module.
#pragma once

#include <pybind11/pybind11.h>

namespace polyrelu {

void bind_grid_rule(pybind11::module_& module);

}  // namespace polyrelu
