; matmul_q8_0 - y = W x, weights in Q8_0: f16 scale, 32 i8.  x86-64, AVX-512 F + BW + VNNI.
; Contract asm/kernels.h      Oracle asm/portable/matmul_q8_0.cpp
; In       rdi m: Matmul*   esi begin   edx step      Clobbers as matmul_blocks.asm
; Holds    see matmul_blocks.asm
%include "blocks.inc"

extern matmul_blocks, blocks.head, blocks.pair
global matmul_q8_0, matmul_q8_0.tile
section .text align=1
matmul_q8_0:
    call    matmul_blocks
.tile:
    call    blocks.head
    vpxor   xmm9, xmm9, xmm9
    add     rax, 2
    push    16
    pop     rdx
    call    blocks.pair
    add     rax, 16
    vpsllw  zmm10, zmm29, 3             ; 128
    MOVE    11, 10, 1
%assign i 0
%rep 8
%assign j 16 + i
    vpxord  zmm %+ i, zmm %+ j, zmm10   ; as many more
%assign i i + 1
%endrep
    jmp     [rbp + L_PART]
