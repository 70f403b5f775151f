// cpu_test - this machine, on which the other tests have run, can run the build.
#include "harness.h"

TEST(cpu, IsReady) {
  EXPECT_TRUE(u8(call(cpu_ready)));  // a bool is returned in al alone
}

TEST(cpu, SingleSteps) {
  SingleSteps guard;
  EXPECT_TRUE(u8(call(cpu_ready)));
}

TEST(cpu, NeedsAreWords) {
  EXPECT_LT(strnlen(cpu_needs, 100), 100u);
  for (const char *c = cpu_needs; *c; ++c) EXPECT_TRUE(*c >= ' ' && *c <= '~');
}
