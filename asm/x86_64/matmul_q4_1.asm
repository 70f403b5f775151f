; matmul_q4_1 - y = W x, weights in Q4_1: f16 scale, f16 minimum, 32 times 4 bits.
; x86-64, AVX2 or AVX-512: see vector.inc.
; Contract asm/kernels.h      Oracle asm/portable/matmul_q4_1.cpp
; In       rdi m: Matmul*   esi begin   edx end      Clobbers as matmul_blocks.asm
; Holds    see matmul_blocks.asm
%include "blocks.inc"

extern matmul_blocks, dots, rows.scales, blocks.nibbles
global matmul_q4_1, matmul_q4_1.tile
section .text align=1
matmul_q4_1:
    call    matmul_blocks
.tile:
    PRODUCTS_BY dots, 0
    add     rax, 2
    call    rows.scales                 ; minima
    vmovaps v9, v8
    sub     rax, 4
    call    rows.scales
    add     rax, 2
    call    blocks.nibbles
    jmp     [rbp + L_PART]
