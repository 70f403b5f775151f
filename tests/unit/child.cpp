// child.cpp - child processes and guarded memory.  See child.h.
#include "child.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "engine.h"

constexpr unsigned long PAGE = 4096;

static std::string caught(const std::function<void()> &f) {
  try {
    f();
    return "";
  } catch (const engine::Refused &refused) {
    return "refused: " + refused.subject + ": " + refused.fault;
  } catch (const std::exception &e) {
    return std::string("exception: ") + e.what();
  }
}

std::string in_child(const std::function<void()> &f, unsigned seconds) {
  auto message = shared<char>(PAGE);
  fflush(stdout);  // or the child would write it as well
  pid_t pid = fork();
  if (pid == 0) {
    alarm(seconds);
    std::string what = caught(f);
    strncpy(message.data(), what.c_str(), PAGE - 1);
    _exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  std::string what = message.data();
  munmap(message.data(), PAGE);
  if (WIFSIGNALED(status)) return std::string("signal: ") + strsignal(WTERMSIG(status));
  if (WEXITSTATUS(status)) return "exit status " + std::to_string(WEXITSTATUS(status));
  return what;
}

std::vector<std::string> sweep(unsigned long n,
                               const std::function<std::string(unsigned long)> &f) {
  constexpr unsigned long A_CHILD = 512, ENOUGH = 8;
  std::vector<std::string> wrong;
  auto at = shared<unsigned long>(1);
  for (unsigned long begin = 0; begin < n && wrong.size() < ENOUGH; begin = at[0] + 1) {
    at[0] = begin;
    std::string what = in_child([&] {
      for (unsigned long i = begin; i < n && i < begin + A_CHILD; ++i) {
        at[0] = i;
        std::string what = f(i);
        if (!what.empty()) throw std::runtime_error(what);
      }
    }, 20);
    if (!what.empty()) wrong.push_back(std::to_string(at[0]) + ": " + what);
  }
  munmap(at.data(), sizeof(unsigned long));
  return wrong;
}

Guarded::Guarded(std::span<const unsigned char> bytes) : size_(bytes.size()) {
  mapped_ = (size_ + 2 * PAGE - 1) / PAGE * PAGE;
  void *p = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  map_ = (unsigned char *)p;
  data_ = map_ + mapped_ - PAGE - size_;
  memcpy(data_, bytes.data(), size_);
  mprotect(map_, mapped_, PROT_READ);
  mprotect(map_ + mapped_ - PAGE, PAGE, PROT_NONE);
}

Guarded::~Guarded() { munmap(map_, mapped_); }
