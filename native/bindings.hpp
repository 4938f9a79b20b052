// What the bindings share: types of arrays, and owners of memory that goes to Python. Every function of the module checks
// lengths, offsets and ranges of its arguments before it lets the GIL go and works.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <span>
#include <utility>
#include <vector>

#include "checks.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace omnitm {

template <class T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Output = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;  // an array to be filled
template <class T>
using InputRows = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using NumpyArray = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

template <class T, class... Options>
std::span<T> view(const nb::ndarray<T, Options...>& array) {
    return {array.data(), array.size()};
}

// What is written must not be what is read, nor written twice.
template <class Written, class... Others>
void check_apart(const Written& written, const Others&... others) {
    check(!(overlap(view(written), view(others)) || ...), "an array to be filled shares memory with another argument");
}

template <class T>
NumpyArray<T> to_numpy(std::vector<T>&& values) {
    auto* owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return NumpyArray<T>(owned->data(), {owned->size()}, owner);
}

}  // namespace omnitm
