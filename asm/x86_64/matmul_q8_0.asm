; matmul_q8_0 - y = W x, weights in Q8_0: f16 scale, 32 i8.  x86-64, AVX2 + FMA + F16C.
; Contract asm/kernels.h      Oracle asm/portable/matmul_q8_0.cpp
; In       rdi m: Matmul*   esi begin   edx end      Clobbers as matmul_blocks.asm
; Holds    see matmul_blocks.asm
%include "blocks.inc"

extern matmul_blocks, dots.signed, rows.scales, rows.pair, blocks.keep
global matmul_q8_0, matmul_q8_0.tile
section .text align=1
matmul_q8_0:
    call    matmul_blocks
.tile:
    PRODUCTS_BY dots.signed, 0
    call    rows.scales
    call    rows.pair
    lea     rdx, [r12 + PARTS + 128]
    call    blocks.keep
%assign i 0
%rep 8
    vpabsb  v%[i], v%[i]                ; up to 128
%assign i i + 1
%endrep
    jmp     [rbp + L_PART]
