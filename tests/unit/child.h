// child.h - what makes it safe to run an engine that may crash, hang or keep threads.
#pragma once
#include <sys/mman.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

// Runs f in a process of its own.  Returns "" if f returned, else what happened in its stead.
std::string in_child(const std::function<void()> &f, unsigned seconds = 120);

// Calls f(i) for all i < n, many in one child.  f returns "" or what is wrong.  Returns what went
// wrong, crashes included, "i: what" each; gives up after a few.
std::vector<std::string> sweep(unsigned long n,
                               const std::function<std::string(unsigned long)> &f);

// Memory that a child shares with its parent.
template <class T>
std::span<T> shared(unsigned long n) {
  void *p = mmap(nullptr, n * sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return {(T *)p, n};
}

// Bytes that may be read and not written, the last of them in front of a page that faults.
class Guarded {
 public:
  explicit Guarded(std::span<const unsigned char> bytes);
  explicit Guarded(const std::string &bytes)
      : Guarded(std::span((const unsigned char *)bytes.data(), bytes.size())) {}
  Guarded(const Guarded &) = delete;
  ~Guarded();
  operator std::span<const unsigned char>() const { return {data_, size_}; }

 private:
  unsigned char *map_, *data_;
  unsigned long size_, mapped_;
};
