// Loops whose iterations run in parallel.
#pragma once

#include <cstddef>
#include <functional>

namespace ringsmith {

/// Calls body(0) ... body(count - 1), on several threads if that is worth it; returns when all have
/// returned. Iterations must not depend on each other, and may call parallel_for themselves.
///
/// The calling thread works too. Helpers come from one pool: however many callers there are, a
/// helper works only while fewer than threads() threads do, so that a server's own threads are not
/// outnumbered. In a child process after fork() the pool starts anew.
///
/// @param words about how many words one iteration reads and writes; loops that are over sooner
///              than a helper wakes stay on the calling thread
/// @throws what the first iteration to fail threw, when the others have returned
void parallel_for(std::size_t count, std::size_t words,
                  const std::function<void(std::size_t)>& body);

/// What an NTT of a limb costs, for `words` above: passes over its words.
inline constexpr std::size_t kTransformPasses = 16;

}  // namespace ringsmith
