; matmul_q4_1 - y = W x, weights in Q4_1: f16 scale, f16 minimum, 32 times 4 bits.  x86-64, AVX2 + FMA + F16C.
; Contract asm/kernels.h      Oracle asm/portable/matmul_q4_1.cpp
; In       rdi m: Matmul*   esi begin   edx step      Clobbers as matmul_blocks.asm
; Holds    see matmul_blocks.asm
%include "blocks.inc"

extern matmul_blocks
global matmul_q4_1, matmul_q4_1.tile
section .text align=1
matmul_q4_1:
    call    matmul_blocks
.tile:
    prefetcht2 [rax + rdx]
    NIBBLES [rax + 4]
    vpmaddubsw ymm7, ymm7, [rbx + 8]
    vcvtph2ps xmm6, [rax]
    vmovshdup xmm5, xmm6                ; minimum
    vfmadd231ss xmm1, xmm5, [rbx + 4]
    vpmaddwd ymm7, ymm2, ymm7
    ADD_DOT xmm6
    NEXT    20, .tile
