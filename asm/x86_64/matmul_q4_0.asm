; matmul_q4_0 - y = W x, weights in Q4_0: f16 scale, 32 times 4 bits, less 8.  x86-64, AVX2 + FMA +
; F16C.
; Contract asm/kernels.h      Oracle asm/portable/matmul_q4_0.cpp
; In       rdi m: Matmul*   esi begin   edx step      Clobbers as matmul_blocks.asm
; Holds    see matmul_blocks.asm   ymm10 bytes of 8
%include "blocks.inc"

extern matmul_blocks
global matmul_q4_0, matmul_q4_0.tile
section .text align=1
matmul_q4_0:
    call    matmul_blocks
.tile:
    vpsrlw  ymm10, ymm11, 1
.block:
    prefetcht2 [rax + rdx]
    NIBBLES [rax + 2]
    vpmaddubsw ymm7, ymm7, [rbx + 8]
    OFFSET  ymm10
    vpmaddwd ymm7, ymm2, ymm7
    vcvtph2ps xmm6, [rax]
    SCALE   xmm6
    vfmadd213ps ymm7, ymm6, ymm0        ; two sums, by turns: one would wait for itself
    vmovaps ymm0, ymm1
    vmovaps ymm1, ymm7
    NEXT    18, .block
