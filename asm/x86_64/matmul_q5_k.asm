; matmul_q5_k - y = W x, weights in Q5_K: Q4_K with fifth bits, 32 bytes before the others, bit 0 of
; each for part 0, and so on.  x86-64, AVX2 or AVX-512: see vector.inc.
; Contract asm/kernels.h      Oracle asm/portable/matmul_q5_k.cpp
; In       rdi m: Matmul*   esi begin   edx end      Clobbers as matmul_blocks.asm
; Holds    see matmul_q4_k.asm
%include "blocks.inc"

extern matmul_blocks, dots, rows.pair, matmul_q4_k.scales, matmul_q4_k.part
extern blocks.keep, blocks.take, blocks.mask, blocks.high, blocks.upper
global matmul_q5_k, matmul_q5_k.tile
section .text align=1
matmul_q5_k:
    call    matmul_blocks
.tile:
    PRODUCTS_BY dots, 0
    call    matmul_q4_k.scales
    call    rows.pair
    lea     rdx, [r12 + UPPER + 128]
    call    blocks.keep
.parts:
    call    rows.pair
    lea     rdx, [r12 + PARTS + 128]
    call    blocks.keep
    call    blocks.mask
    call    .part
    lea     rdx, [r12 + PARTS + 128]
    call    blocks.take
    call    blocks.high
    call    .part
    cmp     byte [rbp + L_COUNT], 8
    jb      .parts
    ret
.part:
    vmovd   xmm12, [rbp + L_COUNT]
    vpsrlw  v9, v13, 3
    vpand   v9, v9, v13                 ; bytes of 1
    call    blocks.upper
    jmp     matmul_q4_k.part
