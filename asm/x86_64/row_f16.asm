; row_f16 - y[i] = scale * w[i], a row of f16 as f32.  x86-64, AVX2.
; Contract asm/kernels.h      Oracle asm/portable/row_f16.cpp
; In       rdi y: f32[n]   rdx w: f16[n]   ecx n, a multiple of 8   xmm0 scale
; Clobbers rcx ymm0 ymm1
%include "weights.inc"

global row_f16
section .text align=1
row_f16:
    ROW     LOAD_F16, 2
