; matmul_q5_0 - y = W x, weights in Q5_0: f16 scale, 32 fifth bits, 32 times 4 bits, less 16.
; x86-64, AVX2 or AVX-512: see vector.inc.
; Contract asm/kernels.h      Oracle asm/portable/matmul_q5_0.cpp
; In       rdi m: Matmul*   esi begin   edx end      Clobbers as matmul_blocks.asm
; Holds    see matmul_blocks.asm   v0 fifth bits of each row, those of the next weights first
%include "blocks.inc"

extern matmul_blocks, dots, rows, rows.scales, blocks.nibbles, blocks.keep, blocks.take
global matmul_q5_0, matmul_q5_0.tile
section .text align=1
matmul_q5_0:
    call    matmul_blocks
.tile:
    PRODUCTS_BY dots, -16
    call    rows.scales
    add     rax, 4
    call    blocks.nibbles
    lea     rdx, [r12 + PARTS + 128]
    call    blocks.keep
    sub     rax, 20
    call    rows
    add     rax, 4
    mov     ecx, 0x02040810             ; 4 bits: one to bit 4 of each byte
    vmovd   xmm1, ecx
    vpbroadcastd v1, xmm1
    vpsrld  v5, v13, 24                 ; 15
    ONES    v12
    vpsubb  v12, v13, v12               ; bytes of 16
    mov     rcx, -8 * VBYTES
.weights:
    vpand   v2, v0, v5
    vpmulld v2, v2, v1
    vmovaps v6, [r12 + rcx + PARTS + 8 * VBYTES]
    WEIGHT  0, v6, v2
    vpsrld  v0, v0, 4
    add     rcx, VBYTES
    jnz     .weights
    lea     rdx, [r12 + PARTS + 128]
    call    blocks.take
    jmp     [rbp + L_PART]
