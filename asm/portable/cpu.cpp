// cpu - can this CPU run the build?  Portable code runs on any.  Contract: asm/kernels.h
#include "../kernels.h"

bool cpu_ready() { return true; }
const char cpu_needs[] = "";
