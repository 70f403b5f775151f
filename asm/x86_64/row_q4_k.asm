; row_q4_k - y[i] = scale * w[i], a row of Q4_K as f32.  x86-64, AVX2 or AVX-512.
; Contract asm/kernels.h      Oracle asm/portable/row_q4_k.cpp
; In       rdi y: f32[n]   rdx w   ecx n, a multiple of 256   xmm0 scale
; Clobbers as row_blocks.asm
extern row_blocks, matmul_q4_k.tile
global row_q4_k
section .text align=1
row_q4_k:
    mov     eax, matmul_q4_k.tile
    jmp     row_blocks
