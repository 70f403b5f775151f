; row_bf16 - y[i] = scale * w[i], a row of bf16 as f32.  x86-64, AVX2.
; Contract asm/kernels.h      Oracle asm/portable/row_bf16.cpp
; In       rdi y: f32[n]   rdx w: bf16[n]   ecx n, a multiple of 8   xmm0 scale
; Clobbers rcx ymm0 ymm1
%include "weights.inc"

global row_bf16
section .text align=1
row_bf16:
    ROW     LOAD_BF16, 2
