; matmul_q4_0 - y = W x, weights in Q4_0: f16 scale, 32 times 4 bits, less 8.
; x86-64, AVX2 or AVX-512: see vector.inc.
; Contract asm/kernels.h      Oracle asm/portable/matmul_q4_0.cpp
; In       rdi m: Matmul*   esi begin   edx end      Clobbers as matmul_blocks.asm
; Holds    see matmul_blocks.asm
%include "blocks.inc"

extern matmul_blocks, dots, rows.scales, blocks.nibbles
global matmul_q4_0, matmul_q4_0.tile
section .text align=1
matmul_q4_0:
    call    matmul_blocks
.tile:
    PRODUCTS_BY dots, -8
    call    rows.scales
    call    blocks.nibbles
    jmp     [rbp + L_PART]
