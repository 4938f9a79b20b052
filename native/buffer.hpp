// Plain aligned memory. The kernels are compiled for several instruction sets, so they must not share
// inline functions of the standard containers: the linker would keep one copy for all.
#pragma once
#include <cstddef>

#include "aligned.hpp"

namespace omnitm::OMNITM_ISA {

template <class T>
class Buffer {
  public:
    Buffer() = default;
    explicit Buffer(size_t size) { allocate(size); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() { free_aligned(data_); }

    // Contents are undefined afterwards; pages are touched only when used.
    void allocate(size_t size) {
        free_aligned(data_);
        data_ = nullptr, size_ = 0;  // if there is not enough memory
        data_ = static_cast<T*>(new_aligned(size * sizeof(T)));
        size_ = size;
    }
    void fill(const T& value) {
        for (size_t i = 0; i < size_; ++i) data_[i] = value;
    }
    size_t size() const { return size_; }
    T* data() { return data_; }
    const T* data() const { return data_; }
    T& operator[](size_t i) { return data_[i]; }
    const T& operator[](size_t i) const { return data_[i]; }

  private:
    T* data_ = nullptr;
    size_t size_ = 0;
};

}  // namespace omnitm::OMNITM_ISA
