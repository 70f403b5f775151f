; add - y[i] += x[i].  x86-64, AVX.
; Contract asm/kernels.h      Oracle asm/portable/add.cpp
; In       rdi y: f32[n]   rsi x: f32[n]   ecx n, a multiple of 8      Clobbers rcx ymm0
global add
section .text
add:
    vmovups ymm0, [rdi + rcx*4 - 32]
    vaddps  ymm0, ymm0, [rsi + rcx*4 - 32]
    vmovups [rdi + rcx*4 - 32], ymm0
    sub     ecx, 8
    jnz     add
    ret
