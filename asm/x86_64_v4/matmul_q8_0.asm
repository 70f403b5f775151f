; matmul_q8_0 - y = W x, weights in Q8_0: f16 scale, 32 i8, made unsigned.
; x86-64, AVX-512 F + BW + VNNI.
; Contract asm/kernels.h      Oracle asm/portable/matmul_q8_0.cpp
; In       rdi m: Matmul*   esi begin   edx end      Clobbers as x86_64/matmul_blocks.asm
; Holds    see x86_64/matmul_blocks.asm
%include "blocks.inc"

extern matmul_blocks, dots, rows.scales, rows.pair
global matmul_q8_0, matmul_q8_0.tile
section .text align=1
matmul_q8_0:
    call    matmul_blocks
.tile:
    PRODUCTS_BY dots, -128
    call    rows.scales
    call    rows.pair
    ONES    v12
    vpsubb  v12, v13, v12
    vpsllw  v12, v12, 3                 ; bytes of 128
    EIGHT   vpxor, v12
    jmp     [rbp + L_PART]
