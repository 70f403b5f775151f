; matmul_q5_0 - y = W x, weights in Q5_0: f16 scale, 32 fifth bits, 32 times 4 bits, less 16.
; x86-64, AVX2 or AVX-512: see vector.inc.
; Contract asm/kernels.h      Oracle asm/portable/matmul_q5_0.cpp
; In       rdi m: Matmul*   esi begin   edx end      Clobbers as matmul_blocks.asm
; Holds    see matmul_blocks.asm   v0 fifth bits of each row, those of the next weights first
%include "blocks.inc"

extern matmul_blocks, dots, rows, rows.scales, blocks.nibbles, blocks.upper
global matmul_q5_0, matmul_q5_0.tile
section .text align=1
matmul_q5_0:
    call    matmul_blocks
.tile:
    PRODUCTS_BY dots, -16
    call    rows.scales
    call    rows
    mov     ecx, 0x00204081             ; 4 bits: one to bit 0 of each byte
    vmovd   xmm4, ecx
    vpbroadcastd v4, xmm4
    vpsrld  v5, v13, 24                 ; 15
    mov     rcx, -8 * VBYTES
.four:
    vpand   v1, v0, v5
    vpmulld v1, v1, v4
    vmovaps [r12 + rcx + UPPER + 8 * VBYTES], v1
    vpsrld  v0, v0, 4
    add     rcx, VBYTES
    jnz     .four
    sub     rax, 12
    call    blocks.nibbles
    vpxor   v12, v12, v12
    vpsrlw  v9, v13, 3
    vpand   v9, v9, v13                 ; bytes of 1
    call    blocks.upper
    vpxor   v9, v9, v9
    jmp     [rbp + L_PART]
