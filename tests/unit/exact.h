// exact.h - see exact.cpp.
#pragma once

extern bool exact;  // quantised weights are multiplied with floats
