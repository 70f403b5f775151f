; matmul_q5_k - y = W x, weights in Q5_K: Q4_K with fifth bits, 32 bytes before the others; the tile
; of Q4_K has it.  x86-64, AVX-512.
; Contract asm/kernels.h      Oracle asm/portable/matmul_q5_k.cpp
; In       rdi m: Matmul*   esi begin   edx step      Clobbers as matmul_blocks.asm
extern matmul_blocks, matmul_q4_k.any
global matmul_q5_k, matmul_q5_k.tile
section .text align=1
matmul_q5_k:
    call    matmul_blocks
.tile:
    push    32
    pop     rsi
    jmp     matmul_q4_k.any
