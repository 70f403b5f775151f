; matmul_q5_k - y = W x, weights in Q5_K: Q4_K with fifth bits, 32 bytes before the others, bit 0 of
; each for part 0, and so on.  x86-64, AVX2 or AVX-512: see vector.inc.
; Contract asm/kernels.h      Oracle asm/portable/matmul_q5_k.cpp
; In       rdi m: Matmul*   esi begin   edx end      Clobbers as matmul_blocks.asm
; Holds    see matmul_q4_k.asm
%include "blocks.inc"

extern matmul_blocks, dots, rows.pair, blocks.keep, blocks.take
extern matmul_q4_k.scales, matmul_q4_k.part
global matmul_q5_k, matmul_q5_k.tile
section .text align=1
matmul_q5_k:
    call    matmul_blocks
.tile:
    PRODUCTS_BY dots, 0
    call    matmul_q4_k.scales
    call    rows.pair
    lea     rdx, [r12 + PARTS + 16 * VBYTES + 128]
    call    blocks.keep
.pair:
    call    rows.pair
    lea     rdx, [r12 + PARTS + 128]
    call    blocks.keep
    ONES    v12
    vpsubb  v12, v13, v12               ; bytes of 16
    vmovd   xmm6, [rbp + L_COUNT]       ; their fifth bits: of part 0 bit 0, of part 1 bit 1
    mov     rcx, -8 * VBYTES
.weights:
    vmovaps v0, [r12 + rcx + PARTS + 8 * VBYTES]
    vmovaps v2, [r12 + rcx + PARTS + 24 * VBYTES]
    vpsrlw  v2, v2, xmm6
    vpsllw  v5, v2, 4
    WEIGHT  0, v0, v5                   ; lower halves are a part, upper ones the next
    vpsrlw  v0, v0, 4
    vpsllw  v5, v2, 3
    WEIGHT  8, v0, v5
    add     rcx, VBYTES
    jnz     .weights
    lea     rdx, [r12 + PARTS + 128]
    call    blocks.take
    call    matmul_q4_k.part
    lea     rdx, [r12 + PARTS + 8 * VBYTES + 128]
    call    blocks.take
    call    matmul_q4_k.part
    cmp     byte [rbp + L_COUNT], 8
    jb      .pair
    ret
