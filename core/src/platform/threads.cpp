#include "ringsmith/threads.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

#include "parallel.h"
#include "ringsmith/error.h"
#include "text.h"

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif

namespace ringsmith {
namespace {

// Below this many words, some tens of microseconds, waking a helper costs more than it saves.
constexpr std::size_t kWordsWorthHelp = std::size_t{1} << 16;

std::size_t checked_count(std::size_t count, std::string_view what) {
  if (count < 1 || count > kMaxThreads) {
    throw ParameterError(text(what, " is ", count, ": give a number from 1 to ", kMaxThreads));
  }
  return count;
}

// Whole processors of the control group's quota, or 0 where it has none.
std::size_t processors_of_quota() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  double quota = 0;
  double period = 0;
  if (!(file >> quota >> period) || period <= 0) {
    return 0;  // there is no such file, or it says "max"
  }
  return std::max<std::size_t>(1, static_cast<std::size_t>(quota / period));
}

std::size_t usable_processors() {
  std::size_t count = std::max(1U, std::thread::hardware_concurrency());
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    count = static_cast<std::size_t>(CPU_COUNT(&set));
  }
#endif
  const std::size_t quota = processors_of_quota();
  return std::min(quota == 0 ? count : std::min(count, quota), kMaxThreads);
}

std::size_t default_threads() {
  const char* const wish = std::getenv("RINGSMITH_THREADS");
  if (wish == nullptr || *wish == '\0') {
    return usable_processors();
  }
  const std::string_view digits(wish);
  std::size_t count = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), count);
  if (error != std::errc() || end != digits.end()) {
    throw ParameterError(text("RINGSMITH_THREADS is '", digits, "': give a number from 1 to ",
                              kMaxThreads, ", or none for all processors"));
  }
  return checked_count(count, "RINGSMITH_THREADS");
}

struct Job {
  const std::function<void(std::size_t)>& body;
  std::size_t count;
  std::size_t next = 0;     // the first iteration not taken yet
  std::size_t running = 0;  // iterations taken and not ended
  std::exception_ptr error = nullptr;
};

// Whether this thread is one that `active_` counts: a helper, or a caller in its outermost loop.
thread_local bool counted = false;

class Pool {
 public:
  explicit Pool(std::size_t limit) : limit_(limit) {}

  [[nodiscard]] std::size_t limit() const { return limit_; }
  void set_limit(std::size_t limit) { limit_ = limit; }

  void run(std::size_t count, const std::function<void(std::size_t)>& body) {
    Job job{.body = body, .count = count};
    const bool outermost = !counted;
    std::unique_lock lock(mutex_);
    start_helpers();
    jobs_.push_front(&job);  // nested loops first: a thread waits for them
    counted = true;
    active_ += outermost ? 1 : 0;
    wake_.notify_all();
    while (job.next < job.count) {
      run_one(job, lock);
    }
    ended_.wait(lock, [&job] { return job.running == 0; });
    active_ -= outermost ? 1 : 0;
    counted = !outermost;
    if (outermost && !jobs_.empty()) {
      wake_.notify_one();  // a helper may take this thread's place
    }
    if (job.error) {
      std::rethrow_exception(job.error);
    }
  }

 private:
  // As many as may work, or as the system gives: results do not depend on their number.
  void start_helpers() {
    try {
      for (; helpers_ + 1 < limit_; ++helpers_) {
        std::thread([this] { help(); }).detach();  // for the life of the process, as the pool is
      }
    } catch (const std::system_error&) {  // tried again with the next loop
    }
  }

  void help() {
    counted = true;
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait(lock, [this] { return !jobs_.empty() && active_ < limit_; });
      ++active_;
      while (!jobs_.empty() && active_ <= limit_) {
        run_one(*jobs_.front(), lock);
      }
      --active_;
    }
  }

  // Takes an iteration of a job that is in the list, and runs it unlocked.
  void run_one(Job& job, std::unique_lock<std::mutex>& lock) {
    const std::size_t index = job.next++;
    if (job.next == job.count) {
      jobs_.remove(&job);
    }
    ++job.running;
    lock.unlock();
    std::exception_ptr error = nullptr;
    try {
      job.body(index);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (error && !job.error) {
      job.error = error;
    }
    if (--job.running == 0 && job.next == job.count) {
      ended_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable ended_;
  std::list<Job*> jobs_;  // those with iterations not taken yet
  std::atomic<std::size_t> limit_;
  std::size_t helpers_ = 0;
  std::size_t active_ = 0;  // threads that compute
};

// Never destroyed: helpers wait in it until the process ends.
std::atomic<Pool*> current_pool;

// In a child process there are no helpers, and the old pool's lock may be held for ever.
void renew_pool() {
  current_pool = new Pool(current_pool.load()->limit());
  counted = false;
}

Pool& pool() {
  static const bool made = [] {
    current_pool = new Pool(default_threads());
#if defined(__linux__)
    pthread_atfork(nullptr, nullptr, renew_pool);
#endif
    return true;
  }();
  static_cast<void>(made);
  return *current_pool.load();
}

}  // namespace

std::size_t threads() { return pool().limit(); }

void set_threads(std::size_t count) {
  pool().set_limit(checked_count(count, "the number of threads"));
}

void parallel_for(std::size_t count, std::size_t words,
                  const std::function<void(std::size_t)>& body) {
  if (count < 2 || count * words < kWordsWorthHelp || threads() == 1) {
    for (std::size_t i = 0; i < count; ++i) {
      body(i);
    }
    return;
  }
  pool().run(count, body);
}

}  // namespace ringsmith
