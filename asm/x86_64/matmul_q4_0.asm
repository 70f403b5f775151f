; matmul_q4_0 - y = W x, weights in Q4_0: f16 scale, 32 times 4 bits, less 8.  x86-64, AVX2 + FMA +
; F16C.
; Contract asm/kernels.h      Oracle asm/portable/matmul_q4_0.cpp
; In       rdi m: Matmul*   esi begin   edx step      Clobbers as matmul_blocks.asm
; Holds    see matmul_blocks.asm   ymm9 bytes of 8
%include "blocks.inc"

extern matmul_blocks, matmul_blocks.others
global matmul_q4_0, matmul_q4_0.tile
section .text align=1
matmul_q4_0:
    call    matmul_blocks
.tile:
    vpsrlw  ymm9, ymm11, 1
.block:
    prefetcht2 [rax + rdx]
    NIBBLES [rax + 2]
    vpmaddubsw ymm7, ymm4, [rbx + 8]
    OFFSET  ymm9
    vpmaddwd ymm7, ymm2, ymm7
    vcvtph2ps xmm15, [rax]
    SCALE   xmm15
    vfmadd213ps ymm7, ymm6, ymm0        ; two sums, by turns: one would wait for itself
    vmovaps ymm0, ymm1
    vmovaps ymm1, ymm7
    NEXT    18, .block
.others:
    xor     r9, 32                      ; as here: to the other sum
    call    matmul_blocks.others
    jmp     .next
