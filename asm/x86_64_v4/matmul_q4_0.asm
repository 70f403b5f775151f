; matmul_q4_0 - y = W x, weights in Q4_0: f16 scale, 32 times 4 bits, less 8.
; x86-64, AVX-512 F + BW + VNNI.
; Contract asm/kernels.h      Oracle asm/portable/matmul_q4_0.cpp
; In       rdi m: Matmul*   esi begin   edx step      Clobbers as matmul_blocks.asm
; Holds    see matmul_blocks.asm
%include "blocks.inc"

extern matmul_blocks, blocks.head, blocks.nibbles
global matmul_q4_0, matmul_q4_0.tile
section .text align=1
matmul_q4_0:
    call    matmul_blocks
.tile:
    call    blocks.head
    vpxor   xmm9, xmm9, xmm9
    add     rax, 2
    call    blocks.nibbles
    add     rax, 16
    vpsrlw  zmm10, zmm29, 1
    vmovdqa64 zmm11, zmm10
    jmp     [rbp + L_PART]
