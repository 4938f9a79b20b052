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

// An array whose numbers lie where the processor wants them; numpy can make others.
template <class T, size_t n_dimensions>
struct AlignedArray : nb::ndarray<T, nb::ndim<n_dimensions>, nb::c_contig, nb::device::cpu> {
    using Base = nb::ndarray<T, nb::ndim<n_dimensions>, nb::c_contig, nb::device::cpu>;
    AlignedArray() = default;
    explicit AlignedArray(Base&& array) : Base(std::move(array)) {}
};

template <class T>
using Input = AlignedArray<const T, 1>;
template <class T>
using Output = AlignedArray<T, 1>;  // an array to be filled
template <class T>
using InputRows = AlignedArray<const T, 2>;
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

namespace nanobind::detail {

template <class T, size_t n_dimensions>
struct type_caster<omnitm::AlignedArray<T, n_dimensions>> {
    using Array = omnitm::AlignedArray<T, n_dimensions>;
    using BaseCaster = make_caster<typename Array::Base>;
    NB_TYPE_CASTER(Array, BaseCaster::Name)

    bool from_python(handle source, uint8_t flags, cleanup_list* cleanup) noexcept {
        BaseCaster base;
        if (!base.from_python(source, flags, cleanup)) return false;
        value = Array(std::move(base.value));
        return reinterpret_cast<uintptr_t>(value.data()) % alignof(T) == 0;
    }

    static handle from_cpp(const Array& array, rv_policy policy, cleanup_list* cleanup) noexcept {
        return BaseCaster::from_cpp(array, policy, cleanup);
    }
};

}  // namespace nanobind::detail
