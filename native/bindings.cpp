// The only file that knows Python: argument checks, array owners, and the GIL released around work.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "autoencoder.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <class T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Output = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// ---- training

// Keeps the corpus' arrays alive for as long as a machine reads them.
class PyAutoencoder {
  public:
    PyAutoencoder(Input<uint64_t> document_offsets, Input<uint32_t> document_words, Input<uint64_t> word_offsets,
                  Input<uint32_t> word_documents, uint32_t n_clauses, int32_t threshold, uint64_t forget_probability,
                  uint32_t accumulation, uint64_t n_examples, uint64_t label_probability, uint32_t max_included,
                  int state_bits, bool fast, const std::string& kernel, const std::string& isa)
        : owners_{nb::cast(document_offsets), nb::cast(document_words), nb::cast(word_offsets),
                  nb::cast(word_documents)},
          autoencoder_({document_offsets.data(), document_words.data(), word_offsets.data(), word_documents.data(),
                        document_offsets.size() - 1, static_cast<uint32_t>(word_offsets.size() - 1)},
                       {n_clauses, threshold, forget_probability, accumulation, n_examples, label_probability,
                        max_included, state_bits, fast},
                       kernel, isa) {}

    bool train(uint32_t target, uint64_t key) {
        if (target >= autoencoder_.corpus().n_words) throw nb::index_error("no such word");
        nb::gil_scoped_release unlocked;
        return autoencoder_.train(target, key);
    }

    void stop() { autoencoder_.stop(); }

    void embedding(Output<int16_t> out) {
        if (out.size() != autoencoder_.corpus().n_words) throw nb::value_error("`out` must have a place per word");
        const omnitm::Machine& machine = autoencoder_.machine();
        nb::gil_scoped_release unlocked;
        machine.embedding(out.data());
    }

    void states(Output<uint8_t> out) {
        if (out.size() != size_t{2} * autoencoder_.corpus().n_words * autoencoder_.settings().n_clauses)
            throw nb::value_error("`out` must have a place per clause and literal");
        const omnitm::Machine& machine = autoencoder_.machine();
        nb::gil_scoped_release unlocked;
        machine.states(out.data());
    }

    void weights(Output<int32_t> out) {
        if (out.size() != autoencoder_.settings().n_clauses) throw nb::value_error("`out` must have a place per clause");
        const int32_t* weights = autoencoder_.machine().weights();
        std::copy(weights, weights + out.size(), out.data());
    }

  private:
    nb::object owners_[4];
    omnitm::Autoencoder autoencoder_;
};

void bind_autoencoder(nb::module_& m) {
    m.def("instruction_sets", &omnitm::instruction_sets, "Instruction sets of this processor, best last.");
    nb::class_<PyAutoencoder>(m, "Autoencoder", "One thread's machine: see omnitm.machine.Autoencoder.")
        .def(nb::init<Input<uint64_t>, Input<uint32_t>, Input<uint64_t>, Input<uint32_t>, uint32_t, int32_t, uint64_t,
                      uint32_t, uint64_t, uint64_t, uint32_t, int, bool, const std::string&, const std::string&>(),
             "document_offsets"_a, "document_words"_a, "word_offsets"_a, "word_documents"_a, nb::kw_only(),
             "n_clauses"_a, "threshold"_a, "forget_probability"_a, "accumulation"_a, "n_examples"_a,
             "label_probability"_a, "max_included"_a, "state_bits"_a, "fast"_a, "kernel"_a, "isa"_a)
        .def("train", &PyAutoencoder::train, "target"_a, "key"_a, "False: stopped before the end.")
        .def("stop", &PyAutoencoder::stop, "Make a running `train` return soon; may be called from any thread.")
        .def("embedding", &PyAutoencoder::embedding, "out"_a)
        .def("states", &PyAutoencoder::states, "out"_a)
        .def("weights", &PyAutoencoder::weights, "out"_a);
}

}  // namespace

NB_MODULE(_native, m) {
    m.doc() = "Native kernels of omnitm; use the Python modules around them.";
    bind_autoencoder(m);
}
