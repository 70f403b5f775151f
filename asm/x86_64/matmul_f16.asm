; matmul_f16 - y = W x, weights in f16.  x86-64, AVX2 + FMA.
; Contract asm/kernels.h      Oracle asm/portable/matmul_f16.cpp
; In       rdi m: Matmul*   esi begin   edx end      Clobbers as matmul.asm
; Holds    see matmul.inc
%include "matmul.inc"
%include "weights.inc"

extern matmul
global matmul_f16
section .text align=1
matmul_f16:
    call    matmul                      ; which finds the tile by the return address
    TILE    LOAD_F16, 16
