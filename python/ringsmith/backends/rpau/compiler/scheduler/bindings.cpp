// Python extension ringsmith.backends.rpau.compiler._scheduler: the issue rule, and programs cut
// into program segments and scheduled.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "scheduler/cutter.h"
#include "scheduler/timeline.h"

namespace nb = nanobind;
using ringsmith::u64;

namespace ringsmith::scheduler {
namespace {

/// A row an instruction: opcode, mask, values of the operands and zeros.
using Rows = nb::ndarray<const std::int32_t, nb::shape<-1, 2 + isa::kMaxOperands>, nb::c_contig,
                         nb::device::cpu>;

/// Opcode, mask, units waited for (one bit each), step (-1 for `halt`), start.
using IssuedRow = std::tuple<int, Mask, unsigned, int, u64>;

Program program_of(const Machine& machine, const Rows& rows, std::vector<Mask> placement,
                   std::vector<Mask> inputs, std::vector<Mask> outputs) {
  machine.check();
  Program program{machine, {}, std::move(placement), std::move(inputs), std::move(outputs)};
  for (std::size_t row = 0; row < rows.shape(0); ++row) {
    Values values;
    for (int i = 0; i < isa::kMaxOperands; ++i) {
      values[i] = rows(row, 2 + i);
    }
    program.instructions.push_back(
        virtual_instruction(machine, rows(row, 0), static_cast<Mask>(rows(row, 1)), values));
  }
  return program;
}

std::vector<IssuedRow> rows_of(const Run& run) {
  std::vector<IssuedRow> rows;
  for (const Issued& each : run.schedule.issued) {
    const Instruction& instruction = each.instruction;
    rows.emplace_back(static_cast<int>(instruction.operation->opcode), instruction.mask,
                      instruction.waits, each.step == kNone ? kNone : run.begin + each.step,
                      each.start);
  }
  return rows;
}

/// A timeline with the machine that it is of.
class OwnTimeline {
 public:
  OwnTimeline(Machine machine, std::vector<u64> arrivals)
      : machine_(std::move(machine)), timeline_(machine_, std::move(arrivals)) {}
  OwnTimeline(const OwnTimeline&) = delete;
  OwnTimeline& operator=(const OwnTimeline&) = delete;

  [[nodiscard]] Timeline& get() { return timeline_; }

  /// An instruction on work polynomials.
  [[nodiscard]] Instruction instruction(int opcode, Mask mask, const std::vector<int>& values,
                                        unsigned waits) const {
    const isa::Operation& operation = operation_of(opcode);
    if (values.size() != static_cast<std::size_t>(operation.operand_count)) {
      throw SchedulerError(std::string(operation.name) + " takes other operands");
    }
    Instruction made{&operation, mask, {}, waits};
    std::copy(values.begin(), values.end(), made.values.begin());
    if (mask >> machine_.rpaus != 0 || waits >> isa::kUnits != 0) {
      throw SchedulerError(std::string(operation.name) + ": the mask or the waits are too large");
    }
    for (int i = 0; i < operation.operand_count; ++i) {
      if (operation.operands[i].kind == isa::Kind::kPoly &&
          (values[i] < 0 || values[i] >= machine_.work_polys())) {
        throw SchedulerError(std::string(operation.name) + ": a polynomial does not exist");
      }
    }
    return made;
  }

 private:
  Machine machine_;
  Timeline timeline_;
};

template <typename Method>
auto asking(Method method) {
  return [method](OwnTimeline& self, int opcode, Mask mask, const std::vector<int>& values,
                  unsigned waits) {
    return (self.get().*method)(self.instruction(opcode, mask, values, waits));
  };
}

}  // namespace
}  // namespace ringsmith::scheduler

NB_MODULE(_scheduler, m) {
  using namespace ringsmith::scheduler;
  using namespace nb::literals;
  m.doc() = "The scheduler of the RPAU architecture.";

  nb::class_<Machine>(m, "Machine")
      .def(
          "__init__",
          [](Machine* self, int rpaus, std::vector<int> banks, int key_polys, int seeds,
             int program_words, u64 fetch_cycles, std::vector<u64> latencies,
             std::vector<int> equivalents) {
            new (self) Machine{rpaus,
                               std::move(banks),
                               key_polys,
                               seeds,
                               program_words,
                               fetch_cycles,
                               std::move(latencies),
                               std::move(equivalents)};
            self->check();
          },
          nb::kw_only(), "rpaus"_a, "banks"_a, "key_polys"_a, "seeds"_a, "program_words"_a,
          "fetch_cycles"_a, "latencies"_a, "equivalents"_a);

  nb::class_<OwnTimeline>(m, "Timeline")
      .def(nb::init<Machine, std::vector<u64>>(), "machine"_a, "arrivals"_a = std::vector<u64>())
      .def("start_of", asking(&Timeline::start_of))
      .def("conflicts", asking(&Timeline::conflicts))
      .def("ring_conflict", asking(&Timeline::ring_conflict))
      .def("exposed",
           [](OwnTimeline& self, int opcode, Mask mask, const std::vector<int>& values,
              unsigned waits) {
             const auto found = self.get().exposed(self.instruction(opcode, mask, values, waits));
             return std::vector<Mask>(found.begin(), found.end());
           })
      .def("exposed_sender",
           [](OwnTimeline& self, int opcode, Mask mask, const std::vector<int>& values,
              unsigned waits) -> std::optional<std::pair<Mask, unsigned>> {
             const Instruction asked = self.instruction(opcode, mask, values, waits);
             const Instruction* const sender = self.get().exposed_sender(asked);
             if (sender == nullptr) return std::nullopt;
             return std::pair(sender->mask, bit_of(sender->operation->unit));
           })
      .def("issue", asking(&Timeline::issue))
      .def("cycles", [](OwnTimeline& self) { return self.get().cycles(); });

  nb::class_<Run>(m, "Run")
      .def_ro("begin", &Run::begin)
      .def_ro("slots", &Run::slots)
      .def_ro("keys", &Run::keys)
      .def_ro("seeds", &Run::seeds)
      .def_ro("loads", &Run::loads)
      .def_ro("stores", &Run::stores)
      .def_prop_ro("cycles", [](const Run& self) { return self.schedule.cycles; })
      .def_prop_ro("peak", [](const Run& self) { return self.schedule.peak; })
      .def_prop_ro("issued", rows_of);

  nb::class_<Cutter>(m, "Cutter")
      .def("__init__",
           [](Cutter* self, const Machine& machine, const Rows& rows, std::vector<Mask> placement,
              std::vector<Mask> inputs, std::vector<Mask> outputs) {
             new (self) Cutter(program_of(machine, rows, std::move(placement), std::move(inputs),
                                          std::move(outputs)));
           })
      .def("done", &Cutter::done)
      .def("whole", &Cutter::whole, nb::call_guard<nb::gil_scoped_release>())
      .def("next", &Cutter::next, nb::call_guard<nb::gil_scoped_release>())
      .def("shortage",
           [](const Cutter& self) {
             const Shortage needed = self.shortage();
             return std::tuple(needed.key_polys, needed.seeds, needed.work_polys);
           })
      .def("runs", &Cutter::runs);
}
