; row_f32 - y[i] = scale * w[i], a row of f32 as f32.  x86-64, AVX2.
; Contract asm/kernels.h      Oracle asm/portable/row_f32.cpp
; In       rdi y: f32[n]   rdx w: f32[n]   ecx n, a multiple of 8   xmm0 scale
; Clobbers rcx ymm0 ymm1
%include "weights.inc"

global row_f32
section .text align=1
row_f32:
    ROW     LOAD_F32, 4
