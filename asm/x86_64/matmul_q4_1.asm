; matmul_q4_1 - y = W x, weights in Q4_1: the tile of Q5_0 has it.  x86-64, AVX2.
; Contract asm/kernels.h      Oracle asm/portable/matmul_q4_1.cpp
; In       rdi m: Matmul*   esi begin   edx step      Clobbers as matmul_blocks.asm
extern matmul_blocks, matmul_q5_0.any
global matmul_q4_1, matmul_q4_1.tile
section .text align=1
matmul_q4_1:
    call    matmul_blocks
.tile:
    xor     r11d, r11d
    jmp     matmul_q5_0.any
