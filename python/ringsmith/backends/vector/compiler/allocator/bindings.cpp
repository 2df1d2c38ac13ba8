// Python extension ringsmith.backends.vector.compiler._allocator: places of limbs, and times.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <map>
#include <string>

#include "allocator/allocation.h"
#include "allocator/timeline.h"

namespace nb = nanobind;

namespace ringsmith::vector {
namespace {

/// Rows of numbers, a record each.
template <typename Record>
using Rows = nb::ndarray<const i64, nb::shape<-1, sizeof(Record) / sizeof(i64)>, nb::c_contig,
                         nb::device::cpu>;

template <typename Record>
std::vector<Record> records(const Rows<Record>& rows) {
  static_assert(std::is_trivially_copyable_v<Record> && sizeof(Record) % sizeof(i64) == 0);
  std::vector<Record> found(rows.shape(0));
  if (!found.empty()) {
    std::memcpy(static_cast<void*>(found.data()), rows.data(), found.size() * sizeof(Record));
  }
  return found;
}

template <typename Record>
nb::bytes bytes(const std::vector<Record>& records) {
  return nb::bytes(static_cast<const void*>(records.data()), records.size() * sizeof(Record));
}

using Numbers = std::map<std::string, i64>;
using NumberLists = std::map<std::string, std::vector<i64>>;

Machine machine_of(const Numbers& n, const NumberLists& lists) {
  return {n.at("clusters"),
          n.at("banks"),
          n.at("results"),
          n.at("slots"),
          n.at("rows"),
          n.at("passes"),
          n.at("stream_rows"),
          n.at("tables"),
          n.at("rows_of_table"),
          n.at("streams"),
          n.at("factor_streams"),
          n.at("x_stream"),
          n.at("bank_operands"),
          n.at("max_entries"),
          n.at("row_beats"),
          n.at("burst_beats"),
          n.at("interval"),
          n.at("read_pause"),
          n.at("write_pause"),
          n.at("latency"),
          n.at("notice"),
          n.at("row_notice"),
          n.at("stored_notice"),
          n.at("freed_notice"),
          n.at("store_lead"),
          n.at("pass_delay"),
          n.at("turn"),
          lists.at("summand"),
          lists.at("factor"),
          lists.at("written"),
          lists.at("forward_turns"),
          lists.at("inverse_turns")};
}

void require(bool fulfilled, const char* what) {
  if (!fulfilled) throw AllocatorError(what);
}

void check(const Problem& problem) {
  const auto is_value = [&](i64 value) { return 0 <= value && value < problem.values(); };
  require(problem.memory.size() == problem.primes.size(), "values differ in number");
  for (const Task& task : problem.tasks) {
    require(0 <= task.cluster && task.cluster < problem.machine.clusters, "no such cluster");
    require(0 <= task.first && 0 < task.count &&
                task.first + task.count <= static_cast<i64>(problem.parts.size()),
            "no such parts");
    const Part* parts = problem.parts_of(task);
    const auto checked = [&](i64 value) { require(is_value(value), "no such value"); };
    each_read(task, parts, checked);
    each_write(task, parts, checked);
  }
  for (const i64 prime : problem.primes) {
    require(0 <= prime && prime < static_cast<i64>(problem.ones.size()), "no such prime");
  }
}

std::vector<bool> marks_of(const std::vector<i64>& values, i64 count) {
  std::vector<bool> found(static_cast<std::size_t>(count));
  for (const i64 value : values) found.at(static_cast<std::size_t>(value)) = true;
  return found;
}

std::vector<i64> values_of(const std::vector<bool>& marks) {
  std::vector<i64> found;
  for (std::size_t value = 0; value < marks.size(); ++value) {
    if (marks[value]) found.push_back(static_cast<i64>(value));
  }
  return found;
}

}  // namespace
}  // namespace ringsmith::vector

NB_MODULE(_allocator, m) {
  using namespace ringsmith::vector;
  using namespace nb::literals;
  m.doc() = "Places of limbs, and times, of the vector architecture.";
  nb::exception<AllocatorError>(m, "AllocatorError");

  nb::class_<Beats>(m, "Beats")
      .def(nb::init<i64, i64>(), "interval"_a, "pause"_a)
      .def("nth", &Beats::nth, "begin"_a, "count"_a);

  nb::class_<Machine>(m, "Machine")
      .def(
          "__init__",
          [](Machine* self, const Numbers& numbers, const NumberLists& lists) {
            new (self) Machine(machine_of(numbers, lists));
          },
          "numbers"_a, "lists"_a);

  nb::class_<Lists>(m, "Lists")
      .def(
          "__init__",
          [](Lists* self, const Rows<Load>& loads, const Rows<Operation>& computing,
             const Rows<Entry>& entries, const Rows<Store>& stores) {
            new (self) Lists{records<Load>(loads), records<Operation>(computing),
                             records<Entry>(entries), records<Store>(stores)};
          },
          "loads"_a, "computing"_a, "entries"_a, "stores"_a)
      .def_prop_ro("loads", [](const Lists& self) { return bytes(self.loads); })
      .def_prop_ro("computing", [](const Lists& self) { return bytes(self.computing); })
      .def_prop_ro("entries", [](const Lists& self) { return bytes(self.entries); })
      .def_prop_ro("stores", [](const Lists& self) { return bytes(self.stores); });

  nb::class_<Allocation>(m, "Allocation")
      .def_ro("programs", &Allocation::programs)
      .def_prop_ro("spilled", [](const Allocation& self) { return values_of(self.spilled); });

  nb::class_<Problem>(m, "Problem")
      .def(
          "__init__",
          [](Problem* self, const Machine& machine, const Rows<Task>& tasks,
             const Rows<Part>& parts, std::vector<i64> primes, std::vector<i64> memory,
             std::vector<i64> ones) {
            Problem made{machine,
                         records<Task>(tasks),
                         records<Part>(parts),
                         std::move(primes),
                         std::move(memory),
                         std::move(ones),
                         {},
                         {}};
            check(made);
            made.find_runs();
            new (self) Problem(std::move(made));
          },
          "machine"_a, "tasks"_a, "parts"_a, "primes"_a, "memory"_a, "ones"_a)
      .def_ro("runs", &Problem::runs)
      .def("giving_way", [](const Problem& self) { return values_of(giving_way(self)); })
      .def(
          "allocate",
          [](const Problem& self, const std::vector<i64>& give_way, i64 few, i64 limbs,
             const std::vector<int>& halves) {
            return allocate(self, marks_of(give_way, self.values()), {few, limbs}, halves);
          },
          "give_way"_a, "few"_a, "limbs"_a, "halves"_a);

  m.def(
      "gaps",
      [](Lists& lists, const Machine& machine, const std::vector<int>& halves) {
        set_gaps(lists, machine, halves);
        std::vector<i64> found;
        for (const Operation& each : lists.computing) found.push_back(each.gap);
        return found;
      },
      "lists"_a, "machine"_a, "halves"_a);
  m.def(
      "schedule",
      [](const std::vector<const Lists*>& programs, const Machine& machine) {
        std::vector<Lists> clusters;
        for (const Lists* each : programs) clusters.push_back(*each);
        nb::list all;
        for (const Times& each : schedule(clusters, machine)) {
          all.append(nb::make_tuple(bytes(each.loads), bytes(each.computing), bytes(each.stores)));
        }
        return all;
      },
      "programs"_a, "machine"_a);
  m.def(
      "total",
      [](const Allocation& allocation, const Machine& machine) {
        return total(schedule(allocation.programs, machine));
      },
      "allocation"_a, "machine"_a);
}
