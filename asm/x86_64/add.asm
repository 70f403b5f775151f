; add - x[i] += y[i].  x86-64, AVX.
; Contract asm/kernels.h      Oracle asm/portable/add.cpp
; In       rdi x: f32[n]   rsi y: f32[n]   edx n, a multiple of 8      Clobbers edx ymm0
global add
section .text
add:
    vmovups ymm0, [rdi + rdx*4 - 32]
    vaddps  ymm0, ymm0, [rsi + rdx*4 - 32]
    vmovups [rdi + rdx*4 - 32], ymm0
    sub     edx, 8
    jnz     add
    ret
