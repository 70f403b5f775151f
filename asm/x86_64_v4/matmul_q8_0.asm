; matmul_q8_0 - y = W x, weights in Q8_0: f16 scale, 32 i8.  x86-64, AVX-512 F + BW + VNNI.
; Contract asm/kernels.h      Oracle asm/portable/matmul_q8_0.cpp
; In       rdi m: Matmul*   esi begin   edx step      Clobbers as matmul_blocks.asm
; Holds    see matmul_blocks.asm
%include "blocks.inc"

extern matmul_blocks, matmul_blocks.load, matmul_blocks.head
global matmul_q8_0, matmul_q8_0.tile
section .text align=1
matmul_q8_0:
    call    matmul_blocks
.tile:
    call    matmul_blocks.head
    vmovdqa64 zmm9, zmm30
    add     rax, 18
    call    matmul_blocks.load
    MOVE    4, 0, 4
    sub     rax, 16
    call    matmul_blocks.load
    add     rax, 32
    vpsllw  zmm10, zmm29, 3
    vmovdqa64 zmm11, zmm10
    EIGHT   vpxord, zmm10               ; 128 more
    jmp     [rbp + L_PART]
