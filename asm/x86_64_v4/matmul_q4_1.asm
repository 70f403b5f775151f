; matmul_q4_1 - y = W x, weights in Q4_1: f16 scale, f16 minimum, 32 times 4 bits.
; x86-64, AVX-512 F + BW + VNNI.
; Contract asm/kernels.h      Oracle asm/portable/matmul_q4_1.cpp
; In       rdi m: Matmul*   esi begin   edx step      Clobbers as matmul_blocks.asm
; Holds    see matmul_blocks.asm
%include "blocks.inc"

extern matmul_blocks, blocks.head, blocks.nibbles
global matmul_q4_1, matmul_q4_1.tile
section .text align=1
matmul_q4_1:
    call    matmul_blocks
.tile:
    call    blocks.head
    add     rax, 4
    call    blocks.nibbles
    add     rax, 16
    vpxor   xmm10, xmm10, xmm10
    vpxor   xmm11, xmm11, xmm11
    jmp     [rbp + L_PART]
