; row_q6_k - y[i] = scale * w[i], a row of Q6_K as f32.  x86-64, AVX2 or AVX-512.
; Contract asm/kernels.h      Oracle asm/portable/row_q6_k.cpp
; In       rdi y: f32[n]   rdx w   ecx n, a multiple of 256   xmm0 scale
; Clobbers as row_blocks.asm
extern row_blocks, matmul_q6_k.tile
global row_q6_k
section .text align=1
row_q6_k:
    mov     eax, matmul_q6_k.tile
    jmp     row_blocks
